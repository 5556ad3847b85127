"""Words that identifiers in code and names of resources consist of, unlike passwords of several words.

The most frequent parts of dotted and hyphenated names in the standard library of Python, and those of cloud resources.
"""

from __future__ import annotations

IDENTIFIER_WORDS = frozenset(
    (
        "a abc absolute abspath access account accounts add address admin after all allow always and any api append "
        "apps arg args argument argv arn array as ascii assert at attr attribute attributes auth auto aware aws azure "
        "backend backup bad base based basename basic bearer before billing binary block body bool bot bucket buffer "
        "bugs build built by byte bytes cache call callback called case catch cert chain char check child children ci "
        "class clear cli client close closed cls cluster cmd code codecs collect collection com command common "
        "compile config connect connection console container content context convert copy core count create cred "
        "credential credentials creds current custom data database date db debug decode default delete deploy "
        "deployment describe dev dict dir directory disable dist distutils docker docs double dumps eks email empty "
        "enable encode encoding encrypted end endpoint endswith ensure env environ equal err error errors escape "
        "event example exc exception exceptions executable exists exit expected expired expr ext extend extensions "
        "extra fail field file filename fileno files filter find first flags float flush foo for format free from "
        "frontend full func function functions functools gateway gcp generate get getvalue git github gitlab global "
        "group groups handle handler has hash header headers helper html http ignore import importlib in include "
        "index info ingress init input insert install instance int internal invalid ion is isdir isfile item items "
        "iter itertools job join json key keys kube kubernetes last left len length level lib like limit line lines "
        "link list lived load loads local log logger logging login long loop lower main make manager map mark match "
        "max message metadata method min missing mock mod mode module modules msg multi mysql name names namespace "
        "negative nested never new next no node nodes non none not num number obj object of old on once one only open "
        "operator option options order org orig original other out output package param params parent parse parser "
        "partial parts passwd password patch path paths pattern per pkg platform policy pop postgres pre prefix print "
        "process prod production project provider providers pull push python queue raise raises random raw re read "
        "readline ready real redis ref refresh register registry related release remove replace repo repr request "
        "required requires res reset resource resources response result results return right role root rotate "
        "rotation rstrip run safe save scanner scope script search secret secrets self send sep server service "
        "services set setdefault setup shape short show side sidecar signed signing simple single size skip sleep "
        "socket sort source spec special specific split splitlines sql ssh ssl sso stack staging start startswith "
        "state status stdin stdout stop store str stream string strip struct style sub subprocess support svc sys "
        "system table tag tags target temp term terraform test testing tests text the thread time timeout tion title "
        "tls to token top traceback true tuple txt type types ui unicode unittest unlink update upper url urllib use "
        "user users util utils val valid validate value values var vault version vm volume wait warn warning warnings "
        "web webhook wide with worker wrap write www yaml zero"
    ).split()
)
