"""Languages that words are stemmed in: each with its stop words (folded) and the letters that give it away."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache

import snowballstemmer

from shared.folding import fold


@dataclass(frozen=True, slots=True)
class Language:
    """A language: the name of its Snowball stemmer, its stop words, letters that few others use."""

    stemmer: str
    stops: frozenset[str]
    letters: frozenset[str]


def _language(stemmer: str, stops: str, letters: str = "") -> Language:
    return Language(stemmer, frozenset(stops.split()), frozenset(letters))


ENGLISH = _language(
    "english",
    "a about after again all also am an and any are as at be because been before being both but by can could did do "
    "does doing down during each few for from further had has have having he her here hers herself him himself his "
    "how i if in into is it its itself just me more most my myself no nor not now of off on once only or other our "
    "ours ourselves out over own same she should so some such than that the their theirs them themselves then there "
    "these they this those through to too under until up very was we were what when where which while who whom why "
    "will with would you your yours yourself yourselves",
)

LATIN = (
    ENGLISH,
    _language(
        "german",
        "aber alle als am an auch auf aus bei bin bis bist da damit dann das dass dem den denn der des die dir doch du "
        "ein eine einem einen einer eines er es euch euer fur habe haben hat hatte ich ihm ihn ihr ihre im in ist ja "
        "jede kann kein keine man mein meine meinem meinen meiner mich mir mit nach nicht noch nur ob oder ohne sehr "
        "sein seine seit sich sie sind so uber um und uns unser unter vom von vor war waren was wenn wer wie wir wird "
        "wo zu zum zur",
        "äöüß",
    ),
    _language(
        "czech",
        "a aby ale ani ano asi az bude budu by byl byla bylo byly byt co coz do ho i ja jak jake jako je jeho jej jeji "
        "jejich jen jeste jestli ji jine jsem jsi jsme jsou jste k kam kde kdo kdy kdyz ke ktera ktere ktery ma mam "
        "mate me mezi mi mit mne mnou moje muj na nad nam nas ne nebo neni nez o od on ona oni ono po pod podle pokud "
        "pro proc prvni pred pri s se si ta tak take tam te tedy ten tento to tohle tom toto tu tvuj ty u uz v vam vas "
        "ve vsak vy z za ze",
        "ěščřžýůťďň",
    ),
    _language(
        "french",
        "a ai au aux avec c ce ces cette d dans de des du elle elles en est et etait ete etre eu il ils j je l la le "
        "les leur lui m ma mais me mes moi mon n ne nos notre nous on ont ou par pas pour qu que qui s sa se ses son "
        "sont sur t ta te tes toi ton tu un une vos votre vous y",
        "èêàçœùûî",
    ),
    _language(
        "spanish",
        "a al como con de del donde e el ella ellos en era es esta este esto fue ha hay he la las le les lo los mas me "
        "mi mis muy ni no nos o para pero por porque que quien se si sin sobre son soy su sus tambien te tengo tiene "
        "tu un una uno y ya yo",
        "ñ¿¡",
    ),
    _language(
        "italian",
        "a ad ai al alla anche c che chi ci come con cui d da dal dalla de dei del della delle di dove e ed era gli ha "
        "hai ho i il in io l la le lei lo loro lui ma mi mia mio nel nella non o per perche piu quando quello questo "
        "sei si sono su sua suo ti tu un una uno",
        "òì",
    ),
    _language(
        "portuguese",
        "a ao aos as com como da das de do dos e ela ele em era essa esse esta este eu foi ha isso ja mais mas me meu "
        "minha muito na nao nas no nos o onde os ou para pela pelo por quando que quem se sem ser seu sua tem tenho um "
        "uma voce",
        "ãõç",
    ),
    _language(
        "dutch",
        "aan al als ben bij dan dat de der deze die dit doen door dus een en er ge geen had heb hebben heeft het hier "
        "hij hoe hun ik in is ja je kan kon maar me meer men met mij mijn na naar niet nog nu of om omdat onder ons "
        "ook op over te toch toen tot uit van veel voor waar was wat we wel werd wie wij wil worden ze zich zij zijn "
        "zo",
    ),
)
"""Languages in Latin letters: which one a text is in is told by its stop words and letters."""

RUSSIAN = _language(
    "russian",
    "а без бы был была были было быть в вам вас весь во вот все вы где да для до его ее если есть еще же за и из или "
    "им их к как ко когда кто ли меня мне мои мой моя мы на над нам нас не него нее нет ни но о об он она они оно от "
    "по под при с со так там тебя то того тоже только ты у уже что чтобы эта это этот я",
)
ARABIC = _language(
    "arabic",
    "في من على الى إلى عن مع هذا هذه ذلك تلك التي الذي الذين ما ماذا هل هو هي هم انا نحن انت كان كانت قد لا لم لن ان "
    "او و ثم كل بعد قبل عند اين متى كيف لماذا",
)
GREEK = _language(
    "greek", "ο η το οι τα του της των τον την και να σε με για απο που δεν ειναι θα μου σου στο στη στην"
)
HINDI = _language("hindi", "")
ARMENIAN = _language("armenian", "")
TAMIL = _language("tamil", "")

_SCRIPTS = (
    (0x370, 0x3FF, GREEK),
    (0x400, 0x52F, RUSSIAN),
    (0x530, 0x58F, ARMENIAN),
    (0x600, 0x6FF, ARABIC),
    (0x900, 0x97F, HINDI),
    (0xB80, 0xBFF, TAMIL),
)
_STOPPED: dict[str, list[str]] = {}
"""The languages that each stop word belongs to."""
for _one in LATIN:
    for _word in _one.stops:
        _STOPPED.setdefault(_word, []).append(_one.stemmer)
_LOCK = threading.Lock()
"""Snowball stemmers keep the word that they work on."""


def latin(words: Iterable[str]) -> tuple[list[Language], int]:
    """The languages in Latin letters that a text may be in, those with the best score, and the score.

    A stop word scores 2 and a word with letters of its own 1; without any, all of them tie at 0.
    """
    scores = Counter[str]()
    for word, times in Counter(words).items():
        for stemmer in _STOPPED.get(fold(word), ()):
            scores[stemmer] += 2 * times
        if not word.isascii():
            for language in LATIN:
                scores[language.stemmer] += times * (not language.letters.isdisjoint(word))
    best = max(scores.values(), default=0)
    return [language for language in LATIN if scores[language.stemmer] == best], best


def languages_of(word: str, told: Sequence[Language]) -> Sequence[Language]:
    """The languages that a word may be in: by its script, and of those in Latin letters the ones that were told."""
    code = ord(word[0])
    if code < 0x250:
        return told
    return next(((language,) for first, last, language in _SCRIPTS if first <= code <= last), ())


@lru_cache(maxsize=16_384)
def stem(language: str, word: str) -> str:
    """The Snowball stem of a word in lower case; safe in any thread."""
    with _LOCK:
        return str(_stemmer(language).stemWord(word))


@cache
def _stemmer(language: str) -> snowballstemmer.stemmer:
    return snowballstemmer.stemmer(language)
