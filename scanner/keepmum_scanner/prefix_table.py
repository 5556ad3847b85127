"""What the keys of known providers start with; written by scanner/render_providers.py, do not edit."""

# First two characters of a prefix -> lines of "prefix fewest most alphabet rule checksum", longest prefix first. Lines
# and not tuples, since a text meets few of them, and a process that scans one text has to load them all.
# fmt: off
FACTS = {
    "4b": (
        "4b1d 38 38 alnum clickhouse.cloud-key \n"
    ),
    "A3": (
        "A3- 31 0 upper-dash 1password.secret-key \n"
    ),
    "AB": (
        "ABIA 16 0 base32 aws.access-key \n"
        "ABSK 109 0 base64 aws.bedrock-key \n"
    ),
    "AC": (
        "ACCA 16 0 base32 aws.access-key \n"
    ),
    "AG": (
        "AGE-SECRET-KEY-1 58 0 upper age.key \n"
    ),
    "AI": (
        "AIK_SECRET_ 64 0 alnum aikido.secret \n"
        "AIK_CI_ 20 0 alnum aikido.ci-token \n"
        "AIza 35 0 base64url google.api-key \n"
    ),
    "AK": (
        "AKCp 69 0 alnum artifactory.key \n"
        "AKIA 16 0 base32 aws.access-key \n"
        "AKID 32 0 alnum tencent.secret-id \n"
    ),
    "AP": (
        "API- 26 26 upper octopus.key \n"
    ),
    "AQ": (
        "AQVN 35 0 base64url yandex.key \n"
    ),
    "AS": (
        "ASIA 16 0 base32 aws.access-key \n"
    ),
    "AT": (
        "ATATT3 60 0 base64url atlassian.token \n"
        "ATCTT3 60 0 base64url atlassian.token \n"
        "ATBB 32 32 alnum bitbucket.app-password \n"
    ),
    "BB": (
        "BBDC- 44 0 base64 bitbucket.data-center-token \n"
    ),
    "BS": (
        "BSA 24 40 urlsafe brave.search-key \n"
    ),
    "CC": (
        "CCIPAT_ 63 0 base64url circleci.token \n"
        "CCIPRJ_ 63 0 base64url circleci.token \n"
        "CCDB1_ 63 0 base64url cockroachdb.key \n"
    ),
    "CF": (
        "CFPAT- 43 0 base64url contentful.token \n"
    ),
    "CL": (
        "CLOJARS_ 60 0 alnum clojars.token \n"
    ),
    "EA": (
        "EAAA 22 0 base64url square.token \n"
        "EAAC 100 0 alnum facebook.token \n"
        "EAAM 100 0 alnum facebook.token \n"
    ),
    "EX": (
        "EXO 24 30 alnum exoscale.key \n"
    ),
    "EZ": (
        "EZAK 54 0 alnum easypost.key \n"
        "EZTK 54 0 alnum easypost.key \n"
    ),
    "FL": (
        "FLWSECK_TEST- 12 0 base64url flutterwave.key \n"
        "FLWSECK- 12 0 base64url flutterwave.key \n"
    ),
    "GO": (
        "GOCSPX- 28 0 base64url google.oauth-client-secret \n"
    ),
    "GR": (
        "GR1348941 20 0 base64url gitlab.runner-registration \n"
    ),
    "HR": (
        "HRKU-AA 58 0 base64url heroku.token \n"
    ),
    "KE": (
        "KEY 55 55 urlsafe telnyx.key \n"
    ),
    "LT": (
        "LTAI 20 0 alnum alibaba.access-key \n"
    ),
    "NR": (
        "NRAK- 27 0 alnum newrelic.user-key \n"
        "NRII- 19 0 base64url newrelic.key \n"
        "NRJS- 19 0 base64url newrelic.key \n"
        "NRRA- 42 0 hex newrelic.rest-key \n"
    ),
    "PM": (
        "PMAK- 59 0 base64url postman.key \n"
    ),
    "SG": (
        "SG. 66 0 dotted sendgrid.key \n"
    ),
    "SK": (
        "SK 32 32 hex twilio.key \n"
    ),
    "YC": (
        "YC 38 38 urlsafe yandex.access-key \n"
    ),
    "ac": (
        "access-development- 36 0 base64url plaid.access-token \n"
        "access-production- 36 0 base64url plaid.access-token \n"
        "access-sandbox- 36 0 base64url plaid.access-token \n"
    ),
    "ai": (
        "aio_ 28 0 alnum adafruit.key \n"
    ),
    "aj": (
        "ajkey_ 26 0 alnum arcjet.key \n"
    ),
    "ak": (
        "ak- 22 22 alnum modal.token \n"
        "ak_ 20 20 urlsafe composio.key \n"
    ),
    "al": (
        "al- 43 43 urlsafe voyage.key \n"
    ),
    "am": (
        "amzn.mws. 36 0 base64url amazon.mws-token \n"
    ),
    "ap": (
        "apify_api_ 34 0 alnum apify.token \n"
        "api_org_ 34 0 alnum huggingface.token \n"
        "apk_ 80 0 base64 devin.key \n"
    ),
    "as": (
        "as- 22 22 alnum modal.token \n"
    ),
    "bb": (
        "bb_live_ 27 0 base64url browserbase.key \n"
        "bb_test_ 27 0 base64url browserbase.key \n"
    ),
    "bk": (
        "bkua_ 40 0 alnum buildkite.token \n"
    ),
    "bp": (
        "bpk- 32 0 hex builder.key \n"
    ),
    "bt": (
        "bt-st- 20 0 alnum braintrust.token \n"
    ),
    "ca": (
        "cal_live_ 32 0 alnum calcom.key \n"
        "cal_ 32 0 alnum calcom.key \n"
    ),
    "cf": (
        "cfat_ 41 0 base64url cloudflare.token \n"
        "cfut_ 41 0 base64url cloudflare.token \n"
        "cfk_ 41 0 base64url cloudflare.token \n"
    ),
    "ci": (
        "cio 32 32 alnum crates.token \n"
    ),
    "cm": (
        "cmVmd 59 0 alnum artifactory.reference-token \n"
    ),
    "cn": (
        "cnvca 51 0 base64url canva.client-secret \n"
    ),
    "co": (
        "cog_ 52 0 alnum devin.service-user-token \n"
        "co_ 48 0 alnum cohere.key \n"
    ),
    "cs": (
        "csk- 48 0 alnum cerebras.key \n"
    ),
    "dG": (
        "dG9rOm 30 0 base64 intercom.token \n"
    ),
    "da": (
        "dapi 32 0 hex databricks.token \n"
    ),
    "db": (
        "dbtc_ 30 0 base64url dbt.token \n"
    ),
    "dc": (
        "dckr_pat_ 27 0 base64url docker.token \n"
    ),
    "dd": (
        "ddo_ 36 0 alnum deno.token \n"
        "ddp_ 36 0 alnum deno.token \n"
    ),
    "de": (
        "depot_project_ 20 0 alnum depot.token \n"
        "depot_user_ 20 0 alnum depot.token \n"
        "depot_org_ 20 0 alnum depot.token \n"
    ),
    "dn": (
        "dnkey- 79 0 upper-dash definednetworking.token \n"
    ),
    "do": (
        "doo_v1_ 64 0 hex digitalocean.token \n"
        "dop_v1_ 64 0 hex digitalocean.token \n"
        "dor_v1_ 64 0 hex digitalocean.token \n"
    ),
    "dp": (
        "dp.pt. 43 0 alnum doppler.token \n"
    ),
    "dt": (
        "dt0c01. 89 0 dotted dynatrace.token \n"
    ),
    "du": (
        "duffel_live_ 43 0 base64url duffel.token \n"
        "duffel_test_ 43 0 base64url duffel.token \n"
    ),
    "e2": (
        "e2b_ 40 0 hex e2b.key \n"
    ),
    "en": (
        "endr+ 16 0 base64url endorlabs.key \n"
    ),
    "es": (
        "essu_ 60 0 base64url elastic.cloud-key \n"
    ),
    "ex": (
        "exa_ 20 0 alnum exa.key \n"
    ),
    "ey": (
        "eyJrIjoi 32 0 base64 grafana.cloud-token \n"
    ),
    "fa": (
        "fal_sk_ 20 0 alnum fal.key \n"
    ),
    "fc": (
        "fc- 32 0 hex firecrawl.key \n"
    ),
    "fi": (
        "fio-u- 64 0 base64url frameio.token \n"
        "figd_ 38 0 base64url figma.token \n"
    ),
    "fl": (
        "flp_ 46 0 alnum friendli.key \n"
    ),
    "fm": (
        "fm1a_ 43 0 base64 fly.token \n"
        "fm1r_ 43 0 base64 fly.token \n"
        "fm2_ 43 0 base64 fly.token \n"
    ),
    "fo": (
        "fo1_ 43 0 base64 fly.token \n"
    ),
    "fp": (
        "fpk_ 20 0 alnum fireworks.key \n"
    ),
    "fw": (
        "fw_ 20 0 alnum fireworks.key \n"
    ),
    "gh": (
        "gho_ 36 0 alnum github.token github\n"
        "ghp_ 36 0 alnum github.token github\n"
        "ghr_ 36 0 alnum github.token github\n"
        "ghs_ 36 0 alnum github.token github\n"
        "ghu_ 36 0 alnum github.token github\n"
    ),
    "gi": (
        "github_pat_ 82 0 base64url github.fine-grained-token \n"
    ),
    "gl": (
        "glagent- 20 0 dotted gitlab.token \n"
        "glffct- 20 0 dotted gitlab.token \n"
        "glsoat- 20 0 dotted gitlab.token \n"
        "glcbt- 20 0 dotted gitlab.token \n"
        "glimt- 20 0 dotted gitlab.token \n"
        "gloas- 20 0 dotted gitlab.token \n"
        "glpat- 20 0 dotted gitlab.token \n"
        "glptt- 20 0 dotted gitlab.token \n"
        "gldt- 20 0 dotted gitlab.token \n"
        "glft- 20 0 dotted gitlab.token \n"
        "glrt- 20 0 dotted gitlab.token \n"
        "glsa_ 41 0 base64url grafana.token \n"
        "gla_ 20 0 alnum gladia.key \n"
        "glc_ 32 0 base64 grafana.cloud-token \n"
    ),
    "gs": (
        "gsk_ 50 0 alnum groq.key \n"
    ),
    "hb": (
        "hb_ 20 0 alnum hyperbolic.key \n"
    ),
    "hf": (
        "hf_ 34 0 alnum huggingface.token \n"
    ),
    "hv": (
        "hvb. 24 0 base64url vault.token \n"
        "hvr. 24 0 base64url vault.token \n"
        "hvs. 24 0 base64url vault.token \n"
    ),
    "ic": (
        "ico- 32 0 alnum infracost.token \n"
    ),
    "ji": (
        "jina_ 60 0 alnum jina.key \n"
    ),
    "ke": (
        "key- 32 32 hex mailgun.key \n"
        "key_ 64 0 hex cursor.key \n"
    ),
    "kn": (
        "knock_st_ 20 0 alnum knock.token \n"
    ),
    "li": (
        "lin_api_ 40 0 alnum linear.key \n"
    ),
    "lm": (
        "lmnr_ 20 0 alnum laminar.key \n"
    ),
    "ls": (
        "lsv2_pt_ 43 0 base64url langsmith.key \n"
        "lsv2_sk_ 43 0 base64url langsmith.key \n"
    ),
    "m0": (
        "m0sk_ 24 0 alnum mem0.key \n"
        "m0- 24 0 alnum mem0.key \n"
    ),
    "md": (
        "mdb_sa_sk_ 40 0 base64url mongodb.service-account \n"
    ),
    "ml": (
        "mlsn. 64 0 hex mailersend.token \n"
    ),
    "mo": (
        "mob- 36 36 urlsafe launchdarkly.key \n"
    ),
    "mx": (
        "mxb_ 20 0 alnum mixedbread.key \n"
    ),
    "na": (
        "napi_ 40 0 alnum neon.key \n"
    ),
    "nf": (
        "nfp_ 40 0 alnum netlify.token \n"
    ),
    "np": (
        "npm_ 36 0 alnum npm.token npm\n"
    ),
    "nt": (
        "ntn_ 43 0 alnum notion.token \n"
    ),
    "nv": (
        "nvapi- 60 0 base64url nvidia.key \n"
    ),
    "op": (
        "ops_eyJ 60 0 base64 1password.service-account \n"
    ),
    "or": (
        "ory_pat_ 32 0 base64url ory.token \n"
    ),
    "oy": (
        "oy2 43 43 alnum nuget.key \n"
    ),
    "p8": (
        "p8e- 32 0 alnum adobe.client-secret \n"
    ),
    "pa": (
        "pat-eu1- 36 0 base64url hubspot.token \n"
        "pat-na1- 36 0 base64url hubspot.token \n"
        "pa- 43 43 urlsafe voyage.key \n"
    ),
    "pc": (
        "pcsk_ 69 0 base64url pinecone.key \n"
    ),
    "pd": (
        "pdl_live_apikey_ 53 0 base64url paddle.key \n"
        "pdl_sdbx_apikey_ 53 0 base64url paddle.key \n"
    ),
    "pe": (
        "persona_production_ 24 0 alnum persona.key \n"
        "persona_sandbox_ 24 0 alnum persona.key \n"
    ),
    "ph": (
        "pha_ 40 0 alnum posthog.key \n"
        "phr_ 40 0 alnum posthog.key \n"
        "phs_ 40 0 alnum posthog.key \n"
        "phx_ 40 0 alnum posthog.key \n"
    ),
    "pn": (
        "pnu_ 36 0 alnum prefect.token \n"
    ),
    "pp": (
        "pplx- 48 0 alnum perplexity.key \n"
    ),
    "ps": (
        "pscale_oauth_ 32 0 dotted planetscale.credential \n"
        "pscale_tkn_ 32 0 dotted planetscale.credential \n"
        "pscale_pw_ 32 0 dotted planetscale.credential \n"
    ),
    "pu": (
        "pul- 40 0 hex pulumi.token \n"
    ),
    "py": (
        "pypi-AgE 50 0 base64url pypi.token \n"
    ),
    "r8": (
        "r8_ 37 0 alnum replicate.token \n"
    ),
    "rd": (
        "rdme_ 70 0 alnum readme.token \n"
    ),
    "re": (
        "re_ 24 0 alnum resend.key \n"
    ),
    "rk": (
        "rk_live_ 16 0 alnum stripe.key \n"
        "rk_prod_ 16 0 alnum stripe.key \n"
        "rk_test_ 16 0 alnum stripe.key \n"
    ),
    "rn": (
        "rnd_ 24 0 alnum render.key \n"
    ),
    "rp": (
        "rpa_ 32 0 upper runpod.key \n"
    ),
    "ru": (
        "rubygems_ 48 0 hex rubygems.token \n"
    ),
    "rz": (
        "rzp_live_ 14 0 alnum razorpay.key \n"
        "rzp_test_ 14 0 alnum razorpay.key \n"
    ),
    "s-": (
        "s-s4t2af- 64 0 hex intra42.client-secret \n"
        "s-s4t2ud- 64 0 hex intra42.client-secret \n"
    ),
    "sb": (
        "sb_secret_ 31 0 base64url supabase.secret-key \n"
        "sbp_ 40 0 hex supabase.token \n"
    ),
    "sd": (
        "sdk- 36 36 urlsafe launchdarkly.key \n"
    ),
    "se": (
        "secret- 20 0 alnum statsig.key \n"
        "secret_ 43 0 alnum notion.internal-secret \n"
    ),
    "sg": (
        "sgai- 36 0 base64url scrapegraphai.key \n"
        "sgp_ 40 0 base64url sourcegraph.token \n"
    ),
    "sh": (
        "shippo_live_ 40 0 hex shippo.token \n"
        "shippo_test_ 40 0 hex shippo.token \n"
        "sha256~ 43 43 urlsafe openshift.token \n"
        "shpat_ 32 0 hex shopify.token \n"
        "shpca_ 32 0 hex shopify.token \n"
        "shppa_ 32 0 hex shopify.token \n"
        "shpss_ 32 0 hex shopify.token \n"
    ),
    "si": (
        "signkey-prod- 64 0 hex inngest.signing-key \n"
        "signkey-test- 64 0 hex inngest.signing-key \n"
    ),
    "sk": (
        "sk-ant-admin01- 93 0 base64url anthropic.key \n"
        "sk-ant-api03- 93 0 base64url anthropic.key \n"
        "sk-helicone- 20 0 base64url helicone.key \n"
        "sk-svcacct- 20 0 base64url openai.key \n"
        "sk-admin- 20 0 base64url openai.key \n"
        "sk-or-v1- 64 0 hex openrouter.key \n"
        "sk-None- 20 0 base64url openai.key \n"
        "sk-proj- 20 0 base64url openai.key \n"
        "sk_live_ 16 0 alnum stripe.key \n"
        "sk_prod_ 16 0 alnum stripe.key \n"
        "sk_test_ 16 0 alnum stripe.key \n"
        "sk-ant- 20 0 base64url anthropic.token \n"
        "sk-api- 20 0 alnum minimax.key \n"
        "sk-let- 20 0 base64url letta.key \n"
        "sk_car_ 20 0 base64url cartesia.key \n"
        "sk-cp- 20 0 alnum minimax.key \n"
        "sk-lf- 20 0 base64url langfuse.key \n"
        "sk.eyJ 24 0 base64url mapbox.token \n"
        "sky_ 30 0 dotted baseten.key \n"
        "sk- 48 0 alnum openai.legacy-key \n"
        "sk- 32 32 hex deepseek.key \n"
        "sk_ 48 0 hex elevenlabs.key \n"
    ),
    "sl": (
        "sl. 130 0 base64url dropbox.token \n"
    ),
    "sm": (
        "sm_aat_ 16 0 alnum settlemint.token \n"
        "sm_pat_ 16 0 alnum settlemint.token \n"
        "sm_sat_ 16 0 alnum settlemint.token \n"
    ),
    "sn": (
        "sntrys_eyJ 60 0 base64 sentry.token \n"
        "sntryu_ 64 0 hex sentry.user-token \n"
    ),
    "sq": (
        "sq0atp- 22 0 base64url square.token \n"
        "sqa_ 40 0 alnum sonarqube.token \n"
        "sqp_ 40 0 alnum sonarqube.token \n"
        "squ_ 40 0 alnum sonarqube.token \n"
    ),
    "tf": (
        "tfp_ 59 0 dotted typeform.token \n"
    ),
    "tg": (
        "tgp_v1_ 43 0 base64url together.key \n"
    ),
    "tk": (
        "tk-us- 48 0 base64url scalingo.token \n"
    ),
    "tr": (
        "tr_prod_ 20 0 alnum trigger.key \n"
        "tr_dev_ 20 0 alnum trigger.key \n"
    ),
    "ts": (
        "tskey-webhook- 24 0 base64url tailscale.key \n"
        "tskey-client- 24 0 base64url tailscale.key \n"
        "tskey-auth- 24 0 base64url tailscale.key \n"
        "tskey-scim- 24 0 base64url tailscale.key \n"
        "tskey-api- 24 0 base64url tailscale.key \n"
    ),
    "tv": (
        "tvly- 32 0 base64url tavily.key \n"
    ),
    "uc": (
        "ucat_ 24 0 alnum upcloud.token \n"
    ),
    "v1": (
        "v1.0- 120 0 base64url cloudflare.origin-ca-key \n"
    ),
    "vc": (
        "vca_ 56 0 base64url vercel.token vercel\n"
        "vci_ 56 0 base64url vercel.token vercel\n"
        "vck_ 56 0 base64url vercel.token vercel\n"
        "vcp_ 56 0 base64url vercel.token vercel\n"
        "vcr_ 56 0 base64url vercel.token vercel\n"
    ),
    "wa": (
        "wandb_v1_ 77 0 base64url wandb.key \n"
    ),
    "wh": (
        "whsec_ 32 0 base64 stripe.webhook-secret \n"
    ),
    "wo": (
        "wos_api_key_ 20 0 alnum workos.key \n"
    ),
    "xa": (
        "xaat- 36 0 base64url axiom.token \n"
        "xapp- 16 0 base64url slack.token \n"
        "xapt- 36 0 base64url axiom.token \n"
        "xai- 70 0 base64url xai.key \n"
        "xau_ 40 0 base64url xata.key \n"
    ),
    "xk": (
        "xkeysib- 81 0 base64url brevo.key \n"
    ),
    "xo": (
        "xoxe.xoxb- 16 0 base64url slack.token \n"
        "xoxe.xoxp- 16 0 base64url slack.token \n"
        "xoxa- 16 0 base64url slack.token \n"
        "xoxb- 16 0 base64url slack.token \n"
        "xoxe- 16 0 base64url slack.token \n"
        "xoxo- 16 0 base64url slack.token \n"
        "xoxp- 16 0 base64url slack.token \n"
        "xoxr- 16 0 base64url slack.token \n"
        "xoxs- 16 0 base64url slack.token \n"
    ),
    "ya": (
        "ya29. 20 0 base64url google.oauth-token \n"
    ),
    "zp": (
        "zpka_ 41 0 base64url zuplo.key \n"
    ),
}

# A key begins where a stretch of characters does.
STARTS = (
    r"(?<![A-Za-z0-9])(?:4[b]|A[3BCGIKPQST]|B[BS]|C[CFL]|E[AXZ]|F[L]|G[OR]|H[R]|K[E]|L[T]|N[R]|P[M]|S[GK]|Y[C]|a[cijklmps]|b[bkpt]|c[af"
    r"imnos]|d[Gabcdenoptu]|e[2nsxy]|f[acilmopw]|g[hils]|h[bfv]|i[c]|j[i]|k[en]|l[ims]|m[0dlox]|n[afptv]|o[pry]|p[8a"
    r"cdehnpsuy]|r[8deknpuz]|s[\-bdeghiklmnq]|t[fgkrsv]|u[c]|v[1c]|w[aho]|x[ako]|y[a]|z[p])"
)
