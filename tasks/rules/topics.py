"""Aspects of an entity by the words that speak for them."""

_WORDS = {
    "education": "study educate graduate attend school university college degree student doctorate "
    "scholarship teach pupil enrol enroll thesis diploma",
    "early life": "born birth childhood raise grow parent father mother brother sister family "
    "baptise",
    "career": "work join serve appoint retire career hire resign employ promote elect assistant "
    "sign debut coach manager",
    "death": "die death bury funeral kill grave cemetery murder assassinate",
    "family": "marry wife husband son daughter child marriage divorce married",
    "discovery": "discover discovery find observe detect experiment demonstrate research",
    "works": "write publish novel book poem compose album song record paint film direct star "
    "release soundtrack single role",
    "reception": "critic review praise receive acclaim criticise criticize reception rating",
    "awards": "award prize win medal honour honor nominate trophy champion",
    "history": "found establish build create open close destroy rename century history occupy "
    "conquer construct originate",
    "geography": "locate river mountain lake north south east west border coast island area region "
    "kilometre mile km altitude elevation",
    "population": "population inhabitant census resident people live",
    "economy": "economy company business sell revenue profit industry export trade market buy "
    "product produce employee",
    "government": "government president parliament law party vote election minister policy council",
    "name": "name call know title nickname abbreviation meaning",
    "structure": "consist contain comprise include part member component layer",
    "use": "use employ purpose serve apply application",
    "battles": "war battle army troop attack defeat invade fight military soldier",
    "sport": "play season team match score league goal game club tournament cup",
    "properties": "temperature mass weight density diameter length height colour size measure",
}
_TOPIC = {word: topic for topic, words in reversed(_WORDS.items()) for word in words.split()}


def topic_of_lemma(lemma: str) -> str:
    """Return the aspect that a word speaks for, empty if none."""
    return _TOPIC.get(lemma, "")
