"""Similarities in older files: there the rule for further samples was a function with its arguments."""

from __future__ import annotations

from typing import Any

SIMILARITY = "estimators.Similarity"


def upgrade(objects: list[Any]) -> None:
    """Put the rule of each similarity of an older file behind the other objects, as an object of its own."""
    found = {number: entry[SIMILARITY] for number, entry in enumerate(objects) if SIMILARITY in entry}
    older = {number: content for number, content in found.items() if "extend" in content}
    rules = {number: {"object": len(objects) + place} for place, number in enumerate(older)}
    objects.extend([_rule(content, rules) for content in older.values()])
    for number, content in older.items():
        kept = {name: content[name] for name in ("operator", "names", "words")}
        objects[number] = {SIMILARITY: {**kept, "rule": rules[number]}}


def _rule(content: dict[str, Any], rules: dict[int, Any]) -> dict[str, Any]:
    extend, arguments = content["extend"], []
    if extend is None:
        return {"estimators.Called": {"samples": content["samples"]}}
    if "partial" in extend:
        extend, arguments = extend["partial"][0], extend["partial"][1]["tuple"]
    if "method" in extend:
        return {"estimators.OfSamples": {"affinity": extend["method"][0]}}
    match extend["function"].rpartition(".")[2]:
        case "as_given":
            return {"estimators.Given": {}}
        case "_as_edges":
            return {
                "estimators.Edges": {"origin": "graph" if content.get("is_graph") else "adjacency matrix"}
            }
        case "_extend_step":
            step, base = arguments
            return {"estimators.Stepped": {"step": step, "base": rules[base["object"]]}}
        case "_extend_attributed":
            samples, feature_names, _ = content["read_new"]["partial"][1]["tuple"]
            parts = {"rule": arguments[0], "samples": samples, "feature_names": feature_names}
            return {"estimators.Attributed": parts}
    raise ValueError(f"a similarity made by {extend['function']}")
