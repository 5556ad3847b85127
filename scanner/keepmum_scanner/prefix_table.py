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
        ("ABSK", 109, 0, "base64", "aws.bedrock-key", ""),
    ),
    "AC": (
        ("ACCA", 16, 0, "base32", "aws.access-key", ""),
    ),
    "AG": (
        ("AGE-SECRET-KEY-1", 58, 0, "upper", "age.key", ""),
    ),
    "AI": (
        ("AIK_SECRET_", 64, 0, "alnum", "aikido.secret", ""),
        ("AIK_CI_", 20, 0, "alnum", "aikido.ci-token", ""),
        ("AIza", 35, 0, "base64url", "google.api-key", ""),
    ),
    "AK": (
        ("AKCp", 69, 0, "alnum", "artifactory.key", ""),
        ("AKIA", 16, 0, "base32", "aws.access-key", ""),
        ("AKID", 32, 0, "alnum", "tencent.secret-id", ""),
    ),
    "AP": (
        ("API-", 26, 26, "upper", "octopus.key", ""),
    ),
    "AQ": (
        ("AQVN", 35, 0, "base64url", "yandex.key", ""),
    ),
    "AS": (
        ("ASIA", 16, 0, "base32", "aws.access-key", ""),
    ),
    "AT": (
        ("ATATT3", 60, 0, "base64url", "atlassian.token", ""),
        ("ATCTT3", 60, 0, "base64url", "atlassian.token", ""),
        ("ATBB", 32, 32, "alnum", "bitbucket.app-password", ""),
    ),
    "BB": (
        ("BBDC-", 44, 0, "base64", "bitbucket.data-center-token", ""),
    ),
    "BS": (
        ("BSA", 24, 40, "urlsafe", "brave.search-key", ""),
    ),
    "CC": (
        ("CCIPAT_", 63, 0, "base64url", "circleci.token", ""),
        ("CCIPRJ_", 63, 0, "base64url", "circleci.token", ""),
        ("CCDB1_", 63, 0, "base64url", "cockroachdb.key", ""),
    ),
    "CF": (
        ("CFPAT-", 43, 0, "base64url", "contentful.token", ""),
    ),
    "CL": (
        ("CLOJARS_", 60, 0, "alnum", "clojars.token", ""),
    ),
    "EA": (
        ("EAAA", 22, 0, "base64url", "square.token", ""),
        ("EAAC", 100, 0, "alnum", "facebook.token", ""),
        ("EAAM", 100, 0, "alnum", "facebook.token", ""),
    ),
    "EX": (
        ("EXO", 24, 30, "alnum", "exoscale.key", ""),
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
    "KE": (
        ("KEY", 55, 55, "urlsafe", "telnyx.key", ""),
    ),
    "LT": (
        ("LTAI", 20, 0, "alnum", "alibaba.access-key", ""),
    ),
    "NR": (
        ("NRAK-", 27, 0, "alnum", "newrelic.user-key", ""),
        ("NRII-", 19, 0, "base64url", "newrelic.key", ""),
        ("NRJS-", 19, 0, "base64url", "newrelic.key", ""),
        ("NRRA-", 42, 0, "hex", "newrelic.rest-key", ""),
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
    "YC": (
        ("YC", 38, 38, "urlsafe", "yandex.access-key", ""),
    ),
    "ac": (
        ("access-development-", 36, 0, "base64url", "plaid.access-token", ""),
        ("access-production-", 36, 0, "base64url", "plaid.access-token", ""),
        ("access-sandbox-", 36, 0, "base64url", "plaid.access-token", ""),
    ),
    "ai": (
        ("aio_", 28, 0, "alnum", "adafruit.key", ""),
    ),
    "aj": (
        ("ajkey_", 26, 0, "alnum", "arcjet.key", ""),
    ),
    "ak": (
        ("ak-", 22, 22, "alnum", "modal.token", ""),
        ("ak_", 20, 20, "urlsafe", "composio.key", ""),
    ),
    "al": (
        ("al-", 43, 43, "urlsafe", "voyage.key", ""),
    ),
    "am": (
        ("amzn.mws.", 36, 0, "base64url", "amazon.mws-token", ""),
    ),
    "ap": (
        ("apify_api_", 34, 0, "alnum", "apify.token", ""),
        ("api_org_", 34, 0, "alnum", "huggingface.token", ""),
        ("apk_", 80, 0, "base64", "devin.key", ""),
    ),
    "as": (
        ("as-", 22, 22, "alnum", "modal.token", ""),
    ),
    "bb": (
        ("bb_live_", 27, 0, "base64url", "browserbase.key", ""),
        ("bb_test_", 27, 0, "base64url", "browserbase.key", ""),
    ),
    "bk": (
        ("bkua_", 40, 0, "alnum", "buildkite.token", ""),
    ),
    "bp": (
        ("bpk-", 32, 0, "hex", "builder.key", ""),
    ),
    "bt": (
        ("bt-st-", 20, 0, "alnum", "braintrust.token", ""),
    ),
    "ca": (
        ("cal_live_", 32, 0, "alnum", "calcom.key", ""),
        ("cal_", 32, 0, "alnum", "calcom.key", ""),
    ),
    "cf": (
        ("cfat_", 41, 0, "base64url", "cloudflare.token", ""),
        ("cfut_", 41, 0, "base64url", "cloudflare.token", ""),
        ("cfk_", 41, 0, "base64url", "cloudflare.token", ""),
    ),
    "ci": (
        ("cio", 32, 32, "alnum", "crates.token", ""),
    ),
    "cm": (
        ("cmVmd", 59, 0, "alnum", "artifactory.reference-token", ""),
    ),
    "cn": (
        ("cnvca", 51, 0, "base64url", "canva.client-secret", ""),
    ),
    "co": (
        ("cog_", 52, 0, "alnum", "devin.service-user-token", ""),
        ("co_", 48, 0, "alnum", "cohere.key", ""),
    ),
    "cs": (
        ("csk-", 48, 0, "alnum", "cerebras.key", ""),
    ),
    "dG": (
        ("dG9rOm", 30, 0, "base64", "intercom.token", ""),
    ),
    "da": (
        ("dapi", 32, 0, "hex", "databricks.token", ""),
    ),
    "db": (
        ("dbtc_", 30, 0, "base64url", "dbt.token", ""),
    ),
    "dc": (
        ("dckr_pat_", 27, 0, "base64url", "docker.token", ""),
    ),
    "dd": (
        ("ddo_", 36, 0, "alnum", "deno.token", ""),
        ("ddp_", 36, 0, "alnum", "deno.token", ""),
    ),
    "de": (
        ("depot_project_", 20, 0, "alnum", "depot.token", ""),
        ("depot_user_", 20, 0, "alnum", "depot.token", ""),
        ("depot_org_", 20, 0, "alnum", "depot.token", ""),
    ),
    "dn": (
        ("dnkey-", 79, 0, "upper-dash", "definednetworking.token", ""),
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
    "e2": (
        ("e2b_", 40, 0, "hex", "e2b.key", ""),
    ),
    "en": (
        ("endr+", 16, 0, "base64url", "endorlabs.key", ""),
    ),
    "es": (
        ("essu_", 60, 0, "base64url", "elastic.cloud-key", ""),
    ),
    "ex": (
        ("exa_", 20, 0, "alnum", "exa.key", ""),
    ),
    "ey": (
        ("eyJrIjoi", 32, 0, "base64", "grafana.cloud-token", ""),
    ),
    "fa": (
        ("fal_sk_", 20, 0, "alnum", "fal.key", ""),
    ),
    "fc": (
        ("fc-", 32, 0, "hex", "firecrawl.key", ""),
    ),
    "fi": (
        ("fio-u-", 64, 0, "base64url", "frameio.token", ""),
        ("figd_", 38, 0, "base64url", "figma.token", ""),
    ),
    "fl": (
        ("flp_", 46, 0, "alnum", "friendli.key", ""),
    ),
    "fm": (
        ("fm1a_", 43, 0, "base64", "fly.token", ""),
        ("fm1r_", 43, 0, "base64", "fly.token", ""),
        ("fm2_", 43, 0, "base64", "fly.token", ""),
    ),
    "fo": (
        ("fo1_", 43, 0, "base64", "fly.token", ""),
    ),
    "fp": (
        ("fpk_", 20, 0, "alnum", "fireworks.key", ""),
    ),
    "fw": (
        ("fw_", 20, 0, "alnum", "fireworks.key", ""),
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
        ("gla_", 20, 0, "alnum", "gladia.key", ""),
        ("glc_", 32, 0, "base64", "grafana.cloud-token", ""),
    ),
    "gs": (
        ("gsk_", 50, 0, "alnum", "groq.key", ""),
    ),
    "hb": (
        ("hb_", 20, 0, "alnum", "hyperbolic.key", ""),
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
    "ji": (
        ("jina_", 60, 0, "alnum", "jina.key", ""),
    ),
    "ke": (
        ("key-", 32, 32, "hex", "mailgun.key", ""),
        ("key_", 64, 0, "hex", "cursor.key", ""),
    ),
    "kn": (
        ("knock_st_", 20, 0, "alnum", "knock.token", ""),
    ),
    "li": (
        ("lin_api_", 40, 0, "alnum", "linear.key", ""),
    ),
    "lm": (
        ("lmnr_", 20, 0, "alnum", "laminar.key", ""),
    ),
    "ls": (
        ("lsv2_pt_", 43, 0, "base64url", "langsmith.key", ""),
        ("lsv2_sk_", 43, 0, "base64url", "langsmith.key", ""),
    ),
    "m0": (
        ("m0sk_", 24, 0, "alnum", "mem0.key", ""),
        ("m0-", 24, 0, "alnum", "mem0.key", ""),
    ),
    "md": (
        ("mdb_sa_sk_", 40, 0, "base64url", "mongodb.service-account", ""),
    ),
    "ml": (
        ("mlsn.", 64, 0, "hex", "mailersend.token", ""),
    ),
    "mo": (
        ("mob-", 36, 36, "urlsafe", "launchdarkly.key", ""),
    ),
    "mx": (
        ("mxb_", 20, 0, "alnum", "mixedbread.key", ""),
    ),
    "na": (
        ("napi_", 40, 0, "alnum", "neon.key", ""),
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
    "or": (
        ("ory_pat_", 32, 0, "base64url", "ory.token", ""),
    ),
    "oy": (
        ("oy2", 43, 43, "alnum", "nuget.key", ""),
    ),
    "p8": (
        ("p8e-", 32, 0, "alnum", "adobe.client-secret", ""),
    ),
    "pa": (
        ("pat-eu1-", 36, 0, "base64url", "hubspot.token", ""),
        ("pat-na1-", 36, 0, "base64url", "hubspot.token", ""),
        ("pa-", 43, 43, "urlsafe", "voyage.key", ""),
    ),
    "pc": (
        ("pcsk_", 69, 0, "base64url", "pinecone.key", ""),
    ),
    "pd": (
        ("pdl_live_apikey_", 53, 0, "base64url", "paddle.key", ""),
        ("pdl_sdbx_apikey_", 53, 0, "base64url", "paddle.key", ""),
    ),
    "pe": (
        ("persona_production_", 24, 0, "alnum", "persona.key", ""),
        ("persona_sandbox_", 24, 0, "alnum", "persona.key", ""),
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
    "re": (
        ("re_", 24, 0, "alnum", "resend.key", ""),
    ),
    "rk": (
        ("rk_live_", 16, 0, "alnum", "stripe.key", ""),
        ("rk_prod_", 16, 0, "alnum", "stripe.key", ""),
        ("rk_test_", 16, 0, "alnum", "stripe.key", ""),
    ),
    "rn": (
        ("rnd_", 24, 0, "alnum", "render.key", ""),
    ),
    "rp": (
        ("rpa_", 32, 0, "upper", "runpod.key", ""),
    ),
    "ru": (
        ("rubygems_", 48, 0, "hex", "rubygems.token", ""),
    ),
    "rz": (
        ("rzp_live_", 14, 0, "alnum", "razorpay.key", ""),
        ("rzp_test_", 14, 0, "alnum", "razorpay.key", ""),
    ),
    "s-": (
        ("s-s4t2af-", 64, 0, "hex", "intra42.client-secret", ""),
        ("s-s4t2ud-", 64, 0, "hex", "intra42.client-secret", ""),
    ),
    "sb": (
        ("sb_secret_", 31, 0, "base64url", "supabase.secret-key", ""),
        ("sbp_", 40, 0, "hex", "supabase.token", ""),
    ),
    "sd": (
        ("sdk-", 36, 36, "urlsafe", "launchdarkly.key", ""),
    ),
    "se": (
        ("secret-", 20, 0, "alnum", "statsig.key", ""),
        ("secret_", 43, 0, "alnum", "notion.internal-secret", ""),
    ),
    "sg": (
        ("sgai-", 36, 0, "base64url", "scrapegraphai.key", ""),
        ("sgp_", 40, 0, "base64url", "sourcegraph.token", ""),
    ),
    "sh": (
        ("shippo_live_", 40, 0, "hex", "shippo.token", ""),
        ("shippo_test_", 40, 0, "hex", "shippo.token", ""),
        ("sha256~", 43, 43, "urlsafe", "openshift.token", ""),
        ("shpat_", 32, 0, "hex", "shopify.token", ""),
        ("shpca_", 32, 0, "hex", "shopify.token", ""),
        ("shppa_", 32, 0, "hex", "shopify.token", ""),
        ("shpss_", 32, 0, "hex", "shopify.token", ""),
    ),
    "si": (
        ("signkey-prod-", 64, 0, "hex", "inngest.signing-key", ""),
        ("signkey-test-", 64, 0, "hex", "inngest.signing-key", ""),
    ),
    "sk": (
        ("sk-ant-admin01-", 93, 0, "base64url", "anthropic.key", ""),
        ("sk-ant-api03-", 93, 0, "base64url", "anthropic.key", ""),
        ("sk-helicone-", 20, 0, "base64url", "helicone.key", ""),
        ("sk-svcacct-", 20, 0, "base64url", "openai.key", ""),
        ("sk-admin-", 20, 0, "base64url", "openai.key", ""),
        ("sk-or-v1-", 64, 0, "hex", "openrouter.key", ""),
        ("sk-None-", 20, 0, "base64url", "openai.key", ""),
        ("sk-proj-", 20, 0, "base64url", "openai.key", ""),
        ("sk_live_", 16, 0, "alnum", "stripe.key", ""),
        ("sk_prod_", 16, 0, "alnum", "stripe.key", ""),
        ("sk_test_", 16, 0, "alnum", "stripe.key", ""),
        ("sk-ant-", 20, 0, "base64url", "anthropic.token", ""),
        ("sk-api-", 20, 0, "alnum", "minimax.key", ""),
        ("sk-let-", 20, 0, "base64url", "letta.key", ""),
        ("sk_car_", 20, 0, "base64url", "cartesia.key", ""),
        ("sk-cp-", 20, 0, "alnum", "minimax.key", ""),
        ("sk-lf-", 20, 0, "base64url", "langfuse.key", ""),
        ("sk.eyJ", 24, 0, "base64url", "mapbox.token", ""),
        ("sky_", 30, 0, "dotted", "baseten.key", ""),
        ("sk-", 48, 0, "alnum", "openai.legacy-key", ""),
        ("sk-", 32, 32, "hex", "deepseek.key", ""),
        ("sk_", 48, 0, "hex", "elevenlabs.key", ""),
    ),
    "sl": (
        ("sl.", 130, 0, "base64url", "dropbox.token", ""),
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
    "tg": (
        ("tgp_v1_", 43, 0, "base64url", "together.key", ""),
    ),
    "tk": (
        ("tk-us-", 48, 0, "base64url", "scalingo.token", ""),
    ),
    "tr": (
        ("tr_prod_", 20, 0, "alnum", "trigger.key", ""),
        ("tr_dev_", 20, 0, "alnum", "trigger.key", ""),
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
    "uc": (
        ("ucat_", 24, 0, "alnum", "upcloud.token", ""),
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
    "wa": (
        ("wandb_v1_", 77, 0, "base64url", "wandb.key", ""),
    ),
    "wh": (
        ("whsec_", 32, 0, "base64", "stripe.webhook-secret", ""),
    ),
    "wo": (
        ("wos_api_key_", 20, 0, "alnum", "workos.key", ""),
    ),
    "xa": (
        ("xaat-", 36, 0, "base64url", "axiom.token", ""),
        ("xapp-", 16, 0, "base64url", "slack.token", ""),
        ("xapt-", 36, 0, "base64url", "axiom.token", ""),
        ("xai-", 70, 0, "base64url", "xai.key", ""),
        ("xau_", 40, 0, "base64url", "xata.key", ""),
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
    "zp": (
        ("zpka_", 41, 0, "base64url", "zuplo.key", ""),
    ),
}
