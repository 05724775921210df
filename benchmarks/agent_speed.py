"""The limit of an agent: from records to a decision, for a few items and for a thousand."""

from typing import Any

import numpy as np

from banditselect import Agent, maps

from .figures import Figure, Part
from .limits import loop
from .measuring import Block, Spread, interleaved

LIMITS = {1000: 3e-3, 20: 0.3e-3}  #: seconds of one act, by the number of items
ROUNDS = 300  #: before anything is timed: weights concentrate, as they do in use
KINDS = ("tea", "coffee", "juice", "wine", "beer")
COUNTRIES = ("FR", "BR", "JP")


def shop(n_items: int) -> tuple[Agent, list[Any], list[Any]]:
    """Return an agent with three maps that has learned ROUNDS rewards, visitors, and items that it has registered."""
    rng = np.random.default_rng(0)
    visitors: list[Any] = [
        {"age": float(rng.integers(18, 80)), "country": str(rng.choice(COUNTRIES))} for _ in range(ROUNDS)
    ]
    prices = rng.lognormal(size=n_items).tolist()
    items: list[Any] = [{"id": k, "price": price, "kind": KINDS[k % len(KINDS)]} for k, price in enumerate(prices)]
    visitor = maps.Numbers("age") + maps.Categories("country")
    item = maps.Numbers("price") + maps.Categories("kind")
    hashed = maps.HashedInteractions(context=visitor, items=item, width=64)
    three = [maps.Items(item), maps.SideBySide(context=visitor, items=item), hashed]
    agent = Agent(maps=[one.fit(visitors, items) for one in three])
    agent.register(items)
    for who in visitors:
        decision = agent.act(who)
        agent.update(decision, 0.1 * who["age"] * items[decision.action]["price"] + rng.normal())
    return agent, visitors, items


def agent(quick: bool) -> Part:
    """Target n: one act of an agent, maps and policy and propensity, on records and on registered items."""
    acts, blocks, figures = 10, (5 if quick else 100), []
    for n_items, limit in LIMITS.items():
        one, visitors, items = shop(n_items)

        def acting(offered: Any, one: Agent = one, visitors: list[dict[str, Any]] = visitors) -> Block:
            return loop(lambda t: one.act(visitors[t], offered).action, acts)

        ways = {"registered": acting([item["id"] for item in items]), "as dicts": acting(items)}
        for way, seconds in interleaved(ways, blocks, warm_up=5).items():
            figures.append(Figure(f"{n_items} items, {way}", "", Spread.of(seconds / acts), limit, target="n"))
    settings = "Seconds of one act: three maps of 7, 12 and 64 features, the last of hashed interactions; FS-IDS after "
    settings += f"{ROUNDS} rewards; {blocks} blocks of {acts} acts of each, in random turns"
    return Part("An agent", settings, figures)
