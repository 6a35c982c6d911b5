"""Function words of English and Spanish, folded as :func:`corpus.terms.fold_words` folds."""

from __future__ import annotations

_ENGLISH = """
a about above after again all am an and any are as at be because been before being below between
both but by can could did do does doing down during each few for from further had has have having
he her here hers him his how i if in into is it its itself just me more most my nor not of off on
once only or other our ours out over own same she should so some such than that the their theirs
them then there these they this those through to too under until up us very was we were what when
where which while who whom why will with would you your yours
"""

_SPANISH = """
a al algo algun alguna algunas alguno algunos ante antes aquel aquella aquello asi aun aunque bajo
bien cada como con contra cual cuales cualquier cuando cuanto de del desde donde dos e el ella ellas
ello ellos en entre era eran es esa esas ese eso esos esta estaba estado estan estar estas este esto
estos fue fueron ha habia hace hacer hacia han hasta hay la las le les lo los mas me mediante mi
mientras mis mucho muy nada ni no nos o os otra otras otro otros para pero poco por porque puede
pueden pues que quien se sea segun ser si sido sin sino sobre solo son su sus tal tambien tan tanto
te tiene tienen toda todas todo todos tras tu tus u un una unas uno unos usted ustedes y ya yo
"""

ENGLISH: frozenset[str] = frozenset(_ENGLISH.split())
SPANISH: frozenset[str] = frozenset(_SPANISH.split())

STOP_WORDS: frozenset[str] = ENGLISH | SPANISH
