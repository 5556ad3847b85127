"""What the keys of known providers start with; written by scanner/render_providers.py, do not edit."""

# First two characters of a prefix -> (prefix, fewest, most, alphabet, rule, checksum), longest prefix first.
# fmt: off
FACTS = {
    "4b": (
        ("4b1d", 38, 38, "alnum", "clickhouse.cloud-key", ""),
    ),
    "A3": (
        ("A3-", 31, 0, "upper-dash", "1password.secret-key", ""),
    ),
    "AB": (
        ("ABIA", 16, 0, "base32", "aws.access-key", ""),
    ),
    "AC": (
        ("ACCA", 16, 0, "base32", "aws.access-key", ""),
    ),
    "AG": (
        ("AGE-SECRET-KEY-1", 58, 0, "upper", "age.key", ""),
    ),
    "AI": (
        ("AIza", 35, 0, "base64url", "google.api-key", ""),
    ),
    "AK": (
        ("AKCp", 69, 0, "alnum", "artifactory.key", ""),
        ("AKIA", 16, 0, "base32", "aws.access-key", ""),
    ),
    "AS": (
        ("ASIA", 16, 0, "base32", "aws.access-key", ""),
    ),
    "AT": (
        ("ATATT3", 60, 0, "base64url", "atlassian.token", ""),
        ("ATCTT3", 60, 0, "base64url", "atlassian.token", ""),
    ),
    "CC": (
        ("CCIPAT_", 63, 0, "base64url", "circleci.token", ""),
        ("CCIPRJ_", 63, 0, "base64url", "circleci.token", ""),
    ),
    "CL": (
        ("CLOJARS_", 60, 0, "alnum", "clojars.token", ""),
    ),
    "EA": (
        ("EAAA", 22, 0, "base64url", "square.token", ""),
        ("EAAC", 100, 0, "alnum", "facebook.token", ""),
        ("EAAM", 100, 0, "alnum", "facebook.token", ""),
    ),
    "EZ": (
        ("EZAK", 54, 0, "alnum", "easypost.key", ""),
        ("EZTK", 54, 0, "alnum", "easypost.key", ""),
    ),
    "FL": (
        ("FLWSECK_TEST-", 12, 0, "base64url", "flutterwave.key", ""),
        ("FLWSECK-", 12, 0, "base64url", "flutterwave.key", ""),
    ),
    "GO": (
        ("GOCSPX-", 28, 0, "base64url", "google.oauth-client-secret", ""),
    ),
    "GR": (
        ("GR1348941", 20, 0, "base64url", "gitlab.runner-registration", ""),
    ),
    "HR": (
        ("HRKU-AA", 58, 0, "base64url", "heroku.token", ""),
    ),
    "LT": (
        ("LTAI", 20, 0, "alnum", "alibaba.access-key", ""),
    ),
    "NR": (
        ("NRII-", 19, 0, "base64url", "newrelic.key", ""),
        ("NRJS-", 19, 0, "base64url", "newrelic.key", ""),
    ),
    "PM": (
        ("PMAK-", 59, 0, "base64url", "postman.key", ""),
    ),
    "SG": (
        ("SG.", 66, 0, "dotted", "sendgrid.key", ""),
    ),
    "SK": (
        ("SK", 32, 32, "hex", "twilio.key", ""),
    ),
    "ap": (
        ("apify_api_", 34, 0, "alnum", "apify.token", ""),
        ("api_org_", 34, 0, "alnum", "huggingface.token", ""),
    ),
    "bk": (
        ("bkua_", 40, 0, "alnum", "buildkite.token", ""),
    ),
    "cm": (
        ("cmVmd", 59, 0, "alnum", "artifactory.reference-token", ""),
    ),
    "da": (
        ("dapi", 32, 0, "hex", "databricks.token", ""),
    ),
    "dc": (
        ("dckr_pat_", 27, 0, "base64url", "docker.token", ""),
    ),
    "do": (
        ("doo_v1_", 64, 0, "hex", "digitalocean.token", ""),
        ("dop_v1_", 64, 0, "hex", "digitalocean.token", ""),
        ("dor_v1_", 64, 0, "hex", "digitalocean.token", ""),
    ),
    "dp": (
        ("dp.pt.", 43, 0, "alnum", "doppler.token", ""),
    ),
    "dt": (
        ("dt0c01.", 89, 0, "dotted", "dynatrace.token", ""),
    ),
    "du": (
        ("duffel_live_", 43, 0, "base64url", "duffel.token", ""),
        ("duffel_test_", 43, 0, "base64url", "duffel.token", ""),
    ),
    "ey": (
        ("eyJrIjoi", 32, 0, "base64", "grafana.cloud-token", ""),
    ),
    "fi": (
        ("fio-u-", 64, 0, "base64url", "frameio.token", ""),
        ("figd_", 38, 0, "base64url", "figma.token", ""),
    ),
    "fm": (
        ("fm1a_", 43, 0, "base64", "fly.token", ""),
        ("fm1r_", 43, 0, "base64", "fly.token", ""),
        ("fm2_", 43, 0, "base64", "fly.token", ""),
    ),
    "fo": (
        ("fo1_", 43, 0, "base64", "fly.token", ""),
    ),
    "gh": (
        ("gho_", 36, 0, "alnum", "github.token", "github"),
        ("ghp_", 36, 0, "alnum", "github.token", "github"),
        ("ghr_", 36, 0, "alnum", "github.token", "github"),
        ("ghs_", 36, 0, "alnum", "github.token", "github"),
        ("ghu_", 36, 0, "alnum", "github.token", "github"),
    ),
    "gi": (
        ("github_pat_", 82, 0, "base64url", "github.fine-grained-token", ""),
    ),
    "gl": (
        ("glagent-", 20, 0, "dotted", "gitlab.token", ""),
        ("glffct-", 20, 0, "dotted", "gitlab.token", ""),
        ("glsoat-", 20, 0, "dotted", "gitlab.token", ""),
        ("glcbt-", 20, 0, "dotted", "gitlab.token", ""),
        ("glimt-", 20, 0, "dotted", "gitlab.token", ""),
        ("gloas-", 20, 0, "dotted", "gitlab.token", ""),
        ("glpat-", 20, 0, "dotted", "gitlab.token", ""),
        ("glptt-", 20, 0, "dotted", "gitlab.token", ""),
        ("gldt-", 20, 0, "dotted", "gitlab.token", ""),
        ("glft-", 20, 0, "dotted", "gitlab.token", ""),
        ("glrt-", 20, 0, "dotted", "gitlab.token", ""),
        ("glsa_", 41, 0, "base64url", "grafana.token", ""),
        ("glc_", 32, 0, "base64", "grafana.cloud-token", ""),
    ),
    "gs": (
        ("gsk_", 50, 0, "alnum", "groq.key", ""),
    ),
    "hf": (
        ("hf_", 34, 0, "alnum", "huggingface.token", ""),
    ),
    "hv": (
        ("hvb.", 24, 0, "base64url", "vault.token", ""),
        ("hvr.", 24, 0, "base64url", "vault.token", ""),
        ("hvs.", 24, 0, "base64url", "vault.token", ""),
    ),
    "ic": (
        ("ico-", 32, 0, "alnum", "infracost.token", ""),
    ),
    "ke": (
        ("key-", 32, 32, "hex", "mailgun.key", ""),
    ),
    "li": (
        ("lin_api_", 40, 0, "alnum", "linear.key", ""),
    ),
    "ls": (
        ("lsv2_pt_", 43, 0, "base64url", "langsmith.key", ""),
        ("lsv2_sk_", 43, 0, "base64url", "langsmith.key", ""),
    ),
    "md": (
        ("mdb_sa_sk_", 40, 0, "base64url", "mongodb.service-account", ""),
    ),
    "nf": (
        ("nfp_", 40, 0, "alnum", "netlify.token", ""),
    ),
    "np": (
        ("npm_", 36, 0, "alnum", "npm.token", "npm"),
    ),
    "nt": (
        ("ntn_", 43, 0, "alnum", "notion.token", ""),
    ),
    "nv": (
        ("nvapi-", 60, 0, "base64url", "nvidia.key", ""),
    ),
    "op": (
        ("ops_eyJ", 60, 0, "base64", "1password.service-account", ""),
    ),
    "p8": (
        ("p8e-", 32, 0, "alnum", "adobe.client-secret", ""),
    ),
    "pa": (
        ("pat-eu1-", 36, 0, "base64url", "hubspot.token", ""),
        ("pat-na1-", 36, 0, "base64url", "hubspot.token", ""),
    ),
    "ph": (
        ("pha_", 40, 0, "alnum", "posthog.key", ""),
        ("phr_", 40, 0, "alnum", "posthog.key", ""),
        ("phs_", 40, 0, "alnum", "posthog.key", ""),
        ("phx_", 40, 0, "alnum", "posthog.key", ""),
    ),
    "pn": (
        ("pnu_", 36, 0, "alnum", "prefect.token", ""),
    ),
    "pp": (
        ("pplx-", 48, 0, "alnum", "perplexity.key", ""),
    ),
    "ps": (
        ("pscale_oauth_", 32, 0, "dotted", "planetscale.credential", ""),
        ("pscale_tkn_", 32, 0, "dotted", "planetscale.credential", ""),
        ("pscale_pw_", 32, 0, "dotted", "planetscale.credential", ""),
    ),
    "pu": (
        ("pul-", 40, 0, "hex", "pulumi.token", ""),
    ),
    "py": (
        ("pypi-AgE", 50, 0, "base64url", "pypi.token", ""),
    ),
    "r8": (
        ("r8_", 37, 0, "alnum", "replicate.token", ""),
    ),
    "rd": (
        ("rdme_", 70, 0, "alnum", "readme.token", ""),
    ),
    "rk": (
        ("rk_live_", 16, 0, "alnum", "stripe.key", ""),
        ("rk_prod_", 16, 0, "alnum", "stripe.key", ""),
        ("rk_test_", 16, 0, "alnum", "stripe.key", ""),
    ),
    "ru": (
        ("rubygems_", 48, 0, "hex", "rubygems.token", ""),
    ),
    "s-": (
        ("s-s4t2af-", 64, 0, "hex", "intra42.client-secret", ""),
        ("s-s4t2ud-", 64, 0, "hex", "intra42.client-secret", ""),
    ),
    "sb": (
        ("sb_secret_", 31, 0, "base64url", "supabase.secret-key", ""),
        ("sbp_", 40, 0, "hex", "supabase.token", ""),
    ),
    "sg": (
        ("sgp_", 40, 0, "base64url", "sourcegraph.token", ""),
    ),
    "sh": (
        ("shippo_live_", 40, 0, "hex", "shippo.token", ""),
        ("shippo_test_", 40, 0, "hex", "shippo.token", ""),
        ("shpat_", 32, 0, "hex", "shopify.token", ""),
        ("shpca_", 32, 0, "hex", "shopify.token", ""),
        ("shppa_", 32, 0, "hex", "shopify.token", ""),
        ("shpss_", 32, 0, "hex", "shopify.token", ""),
    ),
    "sk": (
        ("sk-ant-admin01-", 93, 0, "base64url", "anthropic.key", ""),
        ("sk-ant-api03-", 93, 0, "base64url", "anthropic.key", ""),
        ("sk-svcacct-", 40, 0, "base64url", "openai.key", ""),
        ("sk-or-v1-", 64, 0, "hex", "openrouter.key", ""),
        ("sk-None-", 40, 0, "base64url", "openai.key", ""),
        ("sk-proj-", 40, 0, "base64url", "openai.key", ""),
        ("sk_live_", 16, 0, "alnum", "stripe.key", ""),
        ("sk_prod_", 16, 0, "alnum", "stripe.key", ""),
        ("sk_test_", 16, 0, "alnum", "stripe.key", ""),
        ("sk-", 48, 0, "alnum", "openai.legacy-key", ""),
        ("sk_", 48, 0, "hex", "elevenlabs.key", ""),
    ),
    "sm": (
        ("sm_aat_", 16, 0, "alnum", "settlemint.token", ""),
        ("sm_pat_", 16, 0, "alnum", "settlemint.token", ""),
        ("sm_sat_", 16, 0, "alnum", "settlemint.token", ""),
    ),
    "sn": (
        ("sntrys_eyJ", 60, 0, "base64", "sentry.token", ""),
        ("sntryu_", 64, 0, "hex", "sentry.user-token", ""),
    ),
    "sq": (
        ("sq0atp-", 22, 0, "base64url", "square.token", ""),
        ("sqa_", 40, 0, "alnum", "sonarqube.token", ""),
        ("sqp_", 40, 0, "alnum", "sonarqube.token", ""),
        ("squ_", 40, 0, "alnum", "sonarqube.token", ""),
    ),
    "tf": (
        ("tfp_", 59, 0, "dotted", "typeform.token", ""),
    ),
    "tk": (
        ("tk-us-", 48, 0, "base64url", "scalingo.token", ""),
    ),
    "ts": (
        ("tskey-webhook-", 24, 0, "base64url", "tailscale.key", ""),
        ("tskey-client-", 24, 0, "base64url", "tailscale.key", ""),
        ("tskey-auth-", 24, 0, "base64url", "tailscale.key", ""),
        ("tskey-scim-", 24, 0, "base64url", "tailscale.key", ""),
        ("tskey-api-", 24, 0, "base64url", "tailscale.key", ""),
    ),
    "tv": (
        ("tvly-", 32, 0, "base64url", "tavily.key", ""),
    ),
    "v1": (
        ("v1.0-", 120, 0, "base64url", "cloudflare.origin-ca-key", ""),
    ),
    "vc": (
        ("vca_", 56, 0, "base64url", "vercel.token", "vercel"),
        ("vci_", 56, 0, "base64url", "vercel.token", "vercel"),
        ("vck_", 56, 0, "base64url", "vercel.token", "vercel"),
        ("vcp_", 56, 0, "base64url", "vercel.token", "vercel"),
        ("vcr_", 56, 0, "base64url", "vercel.token", "vercel"),
    ),
    "xa": (
        ("xapp-", 16, 0, "base64url", "slack.token", ""),
    ),
    "xk": (
        ("xkeysib-", 81, 0, "base64url", "brevo.key", ""),
    ),
    "xo": (
        ("xoxe.xoxb-", 16, 0, "base64url", "slack.token", ""),
        ("xoxe.xoxp-", 16, 0, "base64url", "slack.token", ""),
        ("xoxa-", 16, 0, "base64url", "slack.token", ""),
        ("xoxb-", 16, 0, "base64url", "slack.token", ""),
        ("xoxe-", 16, 0, "base64url", "slack.token", ""),
        ("xoxo-", 16, 0, "base64url", "slack.token", ""),
        ("xoxp-", 16, 0, "base64url", "slack.token", ""),
        ("xoxr-", 16, 0, "base64url", "slack.token", ""),
        ("xoxs-", 16, 0, "base64url", "slack.token", ""),
    ),
    "ya": (
        ("ya29.", 20, 0, "base64url", "google.oauth-token", ""),
    ),
}
