"""Words that stand between the name of a credential and its value in sentences, in fifteen languages."""

from __future__ import annotations


def _one_of(*lines: str) -> str:
    """An expression for one of the words, which "|" separates in each line."""
    return "(?:" + "|".join(lines) + ")"


# Verbs after which the value follows.
IS = _one_of(
    "is|was|are|be|remains|reads|equals|became|becomes|stays",
    "ist|war|lautet|lautete|bleibt",
    "est|vaut|était|devient|reste",
    "es|era|será|queda",
    "é|ser|continua|fica|è|rimane|diventa",
    "luidt|blijft|wordt",
    "jest|to|brzmi|är|blir|var|er",
    "будет|равен|такой|теперь|сейчас|это",
    "şöyle",
)
# Prepositions after which it follows a verb: "changed to …"; right after the name the system follows that it opens.
TO = _one_of("to|auf|zu|in|naar|na|till|til|på|на|olarak|en|a|à|em")
# Of these, prepositions that no year follows.
TO_A_NUMBER = _one_of("to|auf|zu|naar|na|till|til|på|на")
# An adverb after such a verb, or nothing.
NOW = (
    r"(?:[ \t]+"
    + _one_of(
        "now|still|currently|always|simply|just|set to|back to|again",
        "jetzt|nun|weiterhin|aktuell|wieder",
        "maintenant|toujours|désormais|ahora|todavía|siempre",
        "agora|ainda|ora|adesso|ancora|nu|nog|nadal|teraz|fortfarande",
        "теперь|сейчас|hala",
    )
    + ")?"
)
# The same in languages that write no space before the value.
ATTACHED_IS = _one_of("は|が|を|是|为|為|即|改为|改成|改為|变更为|設為|设为|设置为|는|은|이|가|를|을")
# "use … as", before a name.
AS = _one_of("as|als|como|come|comme|jako|som|olarak|is|ist|est|es|é|è")
QUOTES = "\"'`«»„“”\u2019「」『』*_"  # around a value, or around a name and its value
ARROWS = _one_of("=>|->|→|\u2013|—")
