"""What a person should review, and what they decide about it."""

from __future__ import annotations

from keepmum.service.review.decisions import Choice, Decided, Decider, is_of_queue
from keepmum.service.review.queue import Reviewer, ReviewItem, ReviewPage
from keepmum.service.review.undoing import Undoer

__all__ = ["Choice", "Decided", "Decider", "ReviewItem", "ReviewPage", "Reviewer", "Undoer", "is_of_queue"]
