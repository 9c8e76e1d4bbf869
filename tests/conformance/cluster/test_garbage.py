"""The garbage collector: background, foreground, orphans, owners that are not there."""

from typing import Any

from tests.conformance.cluster.worlds.objects import config_map
from tests.conformance.cluster.worlds.world import Json, World


def test_in_the_background_the_owner_goes_first(world: World) -> None:
    owner = world.create(config_map("owner"))
    world.create(config_map("owned", owner))
    world.delete("configmaps", "owner")
    assert world.find("configmaps", "owner") is None
    _gone(world, "owned")


def test_a_chain_goes_to_its_end(world: World) -> None:
    last = world.create(config_map("link-0"))
    for number in range(1, 5):
        last = world.create(config_map(f"link-{number}", last))
    world.delete("configmaps", "link-0")
    _gone(world, "link-4")


def test_in_the_foreground_the_owner_waits_for_what_blocks_it(world: World) -> None:
    owner = world.create(config_map("owner"))
    held = config_map("owned", owner)
    held["metadata"]["finalizers"] = ["test.lws/hold"]
    world.create(held)
    world.delete("configmaps", "owner", propagation="Foreground")
    world.until(lambda: _is_ending(world, "owned"), what="the owned one is to go")
    world.settle()
    waiting = world.get("configmaps", "owner")["metadata"]
    assert waiting["finalizers"] == ["foregroundDeletion"]
    world.patch("configmaps", "owned", {"metadata": {"finalizers": None}})
    _gone(world, "owner")


def test_in_the_foreground_what_does_not_block_is_not_waited_for(world: World) -> None:
    owner = world.create(config_map("owner"))
    held = config_map("owned", owner, blocks=False)
    held["metadata"]["finalizers"] = ["test.lws/hold"]
    world.create(held)
    world.delete("configmaps", "owner", propagation="Foreground")
    _gone(world, "owner")
    world.until(lambda: _is_ending(world, "owned"), what="the owned one is to go")
    world.patch("configmaps", "owned", {"metadata": {"finalizers": None}})
    _gone(world, "owned")


def test_a_foreground_deletion_goes_down_the_tree(world: World) -> None:
    top = world.create(config_map("top"))
    middle = world.create(config_map("middle", top))
    held = config_map("leaf", middle)
    held["metadata"]["finalizers"] = ["test.lws/hold"]
    world.create(held)
    world.delete("configmaps", "top", propagation="Foreground")
    world.until(lambda: _is_ending(world, "leaf"), what="the leaf is to go")
    world.settle()
    assert world.get("configmaps", "middle")["metadata"]["finalizers"] == ["foregroundDeletion"]
    world.patch("configmaps", "leaf", {"metadata": {"finalizers": None}})
    _gone(world, "top")
    assert world.find("configmaps", "middle") is None


def test_orphans_lose_their_owner_and_stay(world: World) -> None:
    owner = world.create(config_map("owner"))
    world.create(config_map("owned", owner))
    world.delete("configmaps", "owner", propagation="Orphan")
    _gone(world, "owner")
    world.settle()
    assert "ownerReferences" not in world.get("configmaps", "owned")["metadata"]


def test_one_owner_that_is_left_is_enough(world: World) -> None:
    first = world.create(config_map("first"))
    second = world.create(config_map("second"))
    world.create(config_map("owned", first, second))
    world.delete("configmaps", "first")
    world.until(lambda: len(_owners(world, "owned")) == 1, what="the dead owner is forgotten")
    assert _owners(world, "owned")[0]["name"] == "second"
    world.delete("configmaps", "second")
    _gone(world, "owned")


def test_a_solid_owner_takes_the_place_of_one_that_waits(world: World) -> None:
    first = world.create(config_map("first"))
    second = world.create(config_map("second"))
    world.create(config_map("owned", first, second))
    world.delete("configmaps", "first", propagation="Foreground")
    _gone(world, "first")
    assert [one["name"] for one in _owners(world, "owned")] == ["second"]


def test_an_owner_that_never_was_is_as_good_as_dead(world: World) -> None:
    never: Json = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "never", "uid": "11111111-1111-4111-8111-111111111111"},
    }
    world.create(config_map("owned", never))
    _gone(world, "owned")


def test_a_name_that_lives_again_is_not_the_owner(world: World) -> None:
    owner = world.create(config_map("owner"))
    world.delete("configmaps", "owner")
    world.create(config_map("owner"))
    world.create(config_map("owned", owner))
    _gone(world, "owned")
    assert world.find("configmaps", "owner") is not None


def test_a_wrong_name_with_the_right_uid_is_not_the_owner(world: World) -> None:
    owner = world.create(config_map("owner"))
    world.settle()
    wrong: Json = {**owner, "metadata": {**owner["metadata"], "name": "other"}}
    world.create(config_map("owned", wrong))
    _gone(world, "owned")


def test_an_owner_of_the_whole_cluster_may_own_in_a_namespace(world: World) -> None:
    node = {**world.get("nodes", world.nodes[0]), "apiVersion": "v1", "kind": "Node"}
    world.create(config_map("owned", node))
    world.settle()
    assert world.find("configmaps", "owned") is not None


def test_an_owner_reference_that_is_added_later_counts(world: World) -> None:
    owner = world.create(config_map("owner"))
    world.create(config_map("owned"))
    references = config_map("x", owner)["metadata"]["ownerReferences"]
    world.patch("configmaps", "owned", {"metadata": {"ownerReferences": references}})
    world.delete("configmaps", "owner")
    _gone(world, "owned")


def test_what_is_let_go_does_not_go(world: World) -> None:
    owner = world.create(config_map("owner"))
    world.create(config_map("owned", owner))
    world.patch("configmaps", "owned", {"metadata": {"ownerReferences": None}})
    world.settle()
    world.delete("configmaps", "owner")
    world.settle()
    assert world.find("configmaps", "owned") is not None


def test_letting_go_ends_a_foreground_deletion(world: World) -> None:
    owner = world.create(config_map("owner"))
    held = config_map("owned", owner)
    held["metadata"]["finalizers"] = ["test.lws/hold"]
    world.create(held)
    world.delete("configmaps", "owner", propagation="Foreground")
    world.until(lambda: _is_ending(world, "owned"), what="the owned one is to go")
    world.patch("configmaps", "owned", {"metadata": {"ownerReferences": None}})
    _gone(world, "owner")
    world.patch("configmaps", "owned", {"metadata": {"finalizers": None}})


def _gone(world: World, name: str) -> None:
    world.until(lambda: world.find("configmaps", name) is None, what=f"{name} is gone")


def _is_ending(world: World, name: str) -> bool:
    return "deletionTimestamp" in world.get("configmaps", name)["metadata"]


def _owners(world: World, name: str) -> list[dict[str, Any]]:
    return list(world.get("configmaps", name)["metadata"].get("ownerReferences") or ())
