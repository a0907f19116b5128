"""A small knowledge base of films, people, mountains, and a few things in Chinese."""

from tests.graph_knowledge_base import GraphKnowledgeBase

_TABLE = """
Alien|directed_by|Ridley Scott
Alien|release year|1979
Alien|starring|Sigourney Weaver
Alien|starring|Tom Skerritt
Alien|budget|11 million USD
Alien|running time|117 min
Gladiator|directed_by|Ridley Scott
Gladiator|release year|2000
Gladiator|starring|Russell Crowe
Gladiator|budget|103 million USD
Gladiator|running time|155 min
Blade Runner|directed_by|Ridley Scott
Blade Runner|release year|1982
Blade Runner|budget|30 million USD
Blade Runner|running time|117 min
Aliens|directed_by|James Cameron
Aliens|release year|1986
Aliens|starring|Sigourney Weaver
Aliens|running time|137 min
Titanic|directed_by|James Cameron
Titanic|release year|1997
Titanic|starring|Kate Winslet
Titanic|budget|200 million USD
Titanic|running time|195 min
Ridley Scott|date of birth|30 November 1937
Ridley Scott|place of birth|South Shields
James Cameron|date of birth|16 August 1954
James Cameron|place of birth|Kapuskasing
Russell Crowe|place of birth|Wellington
South Shields|country|England
Kapuskasing|country|Canada
Everest|height|8849 m
K2|height|8611 m
Ben Nevis|height|4,413 ft
红楼梦|作者|曹雪芹
曹雪芹|朝代|清代
姚明|身高|226厘米
姚明|妻子|叶莉
姚明|出生日期|1980年9月12日
叶莉|身高|190厘米
"""
_DESCRIPTIONS = {
    "Alien": "Alien is a science fiction film of 1979. It was shot at Shepperton.",
    "Ridley Scott": "Ridley Scott is a British film director.",
    "姚明": "姚明是中国篮球运动员。",
}


def films() -> GraphKnowledgeBase:
    """Return a new one, which nobody has asked yet."""
    triples = [tuple(line.split("|")) for line in _TABLE.split("\n") if line]
    return GraphKnowledgeBase.of(*triples, descriptions=_DESCRIPTIONS, name="Films", graph="films")
