"""Every archetype has the kinds and edges that faults stand on, and obeys its knobs."""

from __future__ import annotations

from collections import Counter

import pytest
from tests.simulate.estates import by_hand, estate
from tests.simulate.small import small_spec

from heldout.errors import SpecError
from heldout.graph.ontology import check_edge, check_kind
from heldout.simulate.fault import faults
from heldout.simulate.ground import DEPENDS
from heldout.simulate.landscape import ARCHETYPES
from heldout.simulate.spread import spread
from heldout.simulate.world import plot_of

EDGES = """
Service runs_on Deployment; Service part_of Namespace; Service calls Service;
Service calls ExternalDependency; Service calls Function; Service reads_writes DbInstance;
Service reads_writes Cache; Service reads_writes Bucket; Service consumes_from KafkaTopic;
Service consumes_from Queue; Service publishes_to KafkaTopic; Service publishes_to Queue;
Service uses_identity IamRole; Service terminates_tls_with Certificate; Service owned_by Team;
Service built_from Repository; Deployment mounts ConfigMap; Deployment mounts Secret;
Deployment mounts Pvc; Deployment runs_on NodeGroup; Deployment uses_identity ServiceAccount;
Deployment declared_in GitOpsApplication; Deployment part_of Namespace;
ServiceAccount assumes IamRole; IamPolicy grants IamRole; Role grants ServiceAccount;
ClusterRole grants ServiceAccount; Hpa scales Deployment; FeatureFlag constrains Service;
ResourceQuota constrains Namespace; NetworkPolicy constrains Namespace;
LimitRange constrains Namespace; Webhook constrains Namespace; PriorityClass constrains Deployment;
StorageClass constrains Pvc; PersistentVolume part_of Pvc; DbParameterGroup constrains DbInstance;
DbInstance guarded_by SecurityGroup; DbInstance encrypted_by KmsKey; DbInstance part_of Subnet;
Cache part_of Subnet; CronJob reads_writes DbInstance; Job controlled_by CronJob;
Bucket encrypted_by KmsKey; Function uses_identity IamRole; NodeGroup runs_on Cluster;
NodeGroup uses_identity Secret; NodeGroup uses_identity InstanceProfile;
InstanceProfile assumes IamRole; Node controlled_by NodeGroup; QuotaLimit constrains NodeGroup;
LaunchTemplate constrains NodeGroup; RouteTable routes_to Subnet; Subnet guarded_by NetworkAcl;
Subnet part_of Vpc; Vpc part_of CloudAccount; Cluster part_of Region; K8sService selects Deployment;
K8sService selects Pod; K8sService routes_to Service; ReplicaSet controlled_by Deployment;
Pod controlled_by ReplicaSet; Pod runs_on Node; Ingress routes_to K8sService;
IngressClass constrains Ingress; LoadBalancer routes_to Ingress; DnsRecord resolves_to LoadBalancer;
ApiGateway routes_to Service; AlertRule watches Service; Webhook declared_in HelmRelease;
DaemonSet controlled_by HelmRelease; VmInstance part_of Subnet; PullRequest part_of Repository;
IacStack built_from Repository; Pipeline built_from Repository; Person part_of Team
"""
TRIPLES = [tuple(text.split()) for text in EDGES.replace("\n", " ").split(";")]


@pytest.fixture(scope="module", params=ARCHETYPES)
def one(request: pytest.FixtureRequest):
    """One estate of each archetype."""
    return estate(7, archetype=request.param)


def test_every_archetype_has_what_faults_stand_on(one):
    """Each pattern of an edge that faults or walks use exists in an estate of each archetype."""
    ground = one.ground
    have = {
        (ground.entities[src].kind, name, ground.entities[dst].kind)
        for src, name, dst, *_ in ground.edges
    }
    assert [triple for triple in TRIPLES if triple not in have] == []
    for kinds in have:
        check_edge(*kinds)


def test_nothing_stands_alone(one):
    """Every entity has an edge, and its kind is known."""
    touched = {end for edge in one.ground.edges for end in (edge.src, edge.dst)}
    alone = [it for at, it in enumerate(one.ground.entities) if at not in touched]
    assert alone == []
    for it in one.ground.entities:
        check_kind(it.kind)


def test_pods_and_nodes_say_where_and_what_they_run(one):
    """A pod has its node's zone and image, and started before the present."""
    ground = one.ground
    for pod in ground.of_kind("Pod"):
        node = next(ground.follow(pod, "runs_on>Node"))
        for own, its in (("zone", "zone"), ("node_image", "image")):
            assert ground.base[(pod, own)] == ground.base[(node, its)]
        assert "2025" <= str(ground.base[(pod, "started_at")]) < "2027"
    assert len(one.facts("zone", "Node")) >= 3
    assert len(one.facts("image", "Node")) >= 2


def test_inner_balancers_do_not_name_their_service(one):
    """Some services of the middle are reached through a balancer with a brand of its own."""
    ground = one.ground
    inner = [
        it for it in ground.of_kind("LoadBalancer") if ground.base[(it, "scheme")] == "internal"
    ]
    middle = sum(0 < site.level < 4 for site in one.land.sites)
    assert 0.1 <= len(inner) / middle <= 0.5
    for balancer in inner:
        hops = ("routes_to>Ingress", "routes_to>K8sService", "routes_to>Service")
        walk = ground.walk(balancer, hops)
        assert len(walk) == 3
        service = ground.name(walk[-1])
        records = list(ground.follow(balancer, "resolves_to<DnsRecord"))
        assert records
        assert not any(service in ground.name(it) for it in (balancer, walk[0], *records))


def test_every_fault_finds_a_place_or_says_that_it_does_not(one):
    """Binding each fault to an estate of each archetype works or is a SpecError, never a crash."""
    bound, refused = [], []
    for name in faults():
        spec = small_spec(name, 7, knobs={"archetype": one.land.archetype}, traps=())
        try:
            bound.append(plot_of(spec, one.land).binding.seat)
        except SpecError as error:
            refused.append(error)
    assert all(error.mend for error in refused)
    assert len(bound) > 0.75 * len(faults())


def test_a_claim_carries_no_trouble():
    """What is only said of a service does not pass trouble on, a real edge there would."""
    one = estate(3, scale=0.4)
    ground, site = one.ground, one.land.sites[-1]
    other = next(it.service for it in one.land.sites if it.level == 0)
    before = spread(ground, site.service, (site.service,))
    claims = [e for e in ground.edges if (e.predicate, e.dst) not in ground.out(e.src)]
    assert {e.provenance for e in claims} == {"declared", "inferred"}
    assert any(0 < e.until < one.now for e in claims)
    for number in range(20):
        ground.claim(other, DEPENDS[0], site.service, said=("inferred", 0.5, "traffic"),
                     until=number % 2 * one.now)  # fmt: skip
    assert spread(ground, site.service, (site.service,)) == before
    ground.link(other, DEPENDS[0], site.service)
    assert other in spread(ground, site.service, (other, site.service))


def test_a_fleet_is_one_template_with_overrides():
    """Copies of a service hold the same settings but for a few, and no cluster lacks the template."""
    one = estate(4, archetype="fleet", clusters=4)
    ground, alike, total = one.ground, 0, 0
    copies = Counter(site.name for site in one.land.sites)
    assert set(copies.values()) == {1, 4}
    for config in ground.of_kind("ConfigMap"):
        for other in ground.siblings(config)[:1]:
            for (entity, field), value in list(ground.base.items()):
                if entity == config:
                    alike += ground.base.get((other, field)) == value
                    total += 1
    assert 0.75 < alike / total < 0.95


def test_several_providers_report_their_own():
    """Each provider's resources are read from that provider, and services are split over them."""
    one = estate(5, archetype="multicloud", clusters=3)
    ground = one.ground
    assert len(one.facts("provider", "CloudAccount")) >= 2
    for store in ground.of_kind("DbInstance"):
        assert ground.entities[store].said[2] == ground.clouds[ground.entities[store].cluster]
    split = Counter(site.cluster for site in one.land.sites)
    assert len(split) == 3
    assert min(split.values()) > 0.2 * len(one.land.sites)
    across = [
        (a, b) for a, called in one.callees.items() for b in called
        if ground.entities[a].cluster != ground.entities[b].cluster
    ]  # fmt: skip
    assert across


def test_a_data_platform_has_few_entries_and_many_topics():
    """Compared with a plain product it has more topics, consumers, jobs and stores for a service."""
    data, plain = estate(6, archetype="data"), estate(6)
    for kind in ("KafkaTopic", "ConsumerGroup", "CronJob", "DbInstance"):
        assert data.kind(kind) / len(data.land.sites) > plain.kind(kind) / len(plain.land.sites)
    assert sum(site.level == 0 for site in data.land.sites) <= 5


@pytest.mark.parametrize("archetype", ARCHETYPES)
@pytest.mark.parametrize("clusters", [1, 2, 6])
def test_the_clusters_knob_is_obeyed(archetype: str, clusters: int):
    """Any archetype can be built with one to six clusters, also when it is small."""
    one = estate(8, archetype=archetype, clusters=clusters, scale=0.3)
    assert len(one.land.clusters) == clusters
    assert {site.cluster for site in one.land.sites} == set(one.land.clusters)


@pytest.mark.parametrize("drift", [0.0, 0.5, 1.0])
def test_the_drift_knob_sets_what_no_stack_declares(drift: float):
    """The share of cloud resources outside any stack is the knob's, whatever else is drawn."""
    one = estate(9, drift=drift, scale=0.5)
    assert by_hand(one)[0] == pytest.approx(drift, abs=0.01)
    applied = sum(change.type == "iac_apply" for change in one.changes)
    assert (applied == 0) == (drift == 1.0)


@pytest.mark.parametrize("coverage", [0.0, 0.5, 1.0])
def test_the_coverage_knob_sets_who_opens_pull_requests(coverage: float):
    """That share of settings and applies names a pull request; the rest was made by people."""
    one = estate(10, pr_coverage=coverage, scale=0.5, events=3000)
    changes = [it for it in one.changes if it.type in ("config", "iac_apply")]
    assert sum(bool(it.pr) for it in changes) / len(changes) == pytest.approx(coverage, abs=0.07)
    assert {it.actor_kind for it in changes if not it.pr} <= {"person"}


def test_a_knob_moves_nothing_else():
    """Drift, coverage and similar names leave the estate's people, sizes and calls as they were."""
    plain = estate(11, scale=0.4)
    other = estate(11, scale=0.4, drift=0.9, pr_coverage=0.1)
    assert plain.land.people == other.land.people
    assert [it.name for it in plain.ground.entities] == [it.name for it in other.ground.entities]
    assert plain.callees == other.callees
