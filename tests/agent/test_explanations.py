"""Explanations of the state of an agent."""

import numpy as np

from banditselect import Agent, maps


def test_the_map_that_explains_the_level_is_named():
    rng = np.random.default_rng(0)
    visitors = [{"wealth": float(w)} for w in rng.normal(size=300)]
    items = [{"id": i, "price": rng.normal(), "weight": rng.normal()} for i in range(20)]
    wealth, price, weight = (maps.Numbers(name) for name in ("wealth", "price", "weight"))
    agent = Agent(
        maps={
            "item": maps.Items(price).fit(visitors, items),
            "visitor": maps.SideBySide(context=wealth, items=weight).fit(visitors, items),
        }
    )
    for visitor in visitors:
        choice = agent.act(visitor, items)
        agent.update(choice, 3.0 * visitor["wealth"] + items[choice.item]["price"] + 0.5 * rng.normal())
    told = agent.explain()
    assert told.models[0].name == "item"
    assert told.level == "visitor"
    assert str(told).endswith("is explained by visitor.")
    assert told.to_dict()["level"] == "visitor"
