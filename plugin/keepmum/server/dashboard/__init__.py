"""The dashboard on a team's server: the page of `keepmum.dashboard` behind a sign-in."""

from keepmum.server.dashboard.endpoint import TeamDashboard

__all__ = ["TeamDashboard"]
