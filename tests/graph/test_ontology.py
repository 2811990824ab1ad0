"""The ontology refuses what a world may not say."""

from __future__ import annotations

import pytest

from heldout.errors import WorldError
from heldout.graph import ontology
from heldout.graph.ontology import near
from heldout.graph.topology import Topology, TopologyEdge, TopologyEntity, TopologyFact

_DESIGNED = """
Team Person Repository PullRequest IacStack Pipeline
CloudAccount Region Vpc Subnet SecurityGroup LoadBalancer DnsRecord Certificate IamRole IamPolicy
KmsKey DbInstance DbParameterGroup Cache Queue Bucket NodeGroup VmInstance Function QuotaLimit
Cluster Node Namespace Deployment StatefulSet DaemonSet CronJob Job Pod K8sService Ingress ConfigMap
Secret Hpa Pdb Pvc NetworkPolicy ResourceQuota ServiceAccount Webhook
Service FeatureFlag KafkaTopic ConsumerGroup ExternalDependency AlertRule
ReplicaSet Role ClusterRole RoleBinding ClusterRoleBinding PersistentVolume StorageClass
PriorityClass IngressClass RouteTable NetworkAcl GitOpsApplication HelmRelease InstanceProfile
"""
"""The design's 52 kinds, and those that faults and importers need besides."""


def test_every_kind_of_the_design_and_its_23_predicates_are_there():
    """The kinds of the design and its additions exist once each, with 23 predicates or more."""
    assert len(set(ontology.KINDS)) == len(ontology.KINDS)
    assert set(_DESIGNED.split()) <= set(ontology.KINDS)
    assert len(ontology.PREDICATES) >= 23
    assert all(signature.meaning for signature in ontology.PREDICATES.values())


def test_every_signature_names_known_kinds():
    """A signature can only be written with kinds that exist."""
    for signature in ontology.PREDICATES.values():
        assert signature.domain <= set(ontology.KINDS)
        assert signature.range <= set(ontology.KINDS)


@pytest.mark.parametrize(
    ("src", "predicate", "dst"),
    [
        ("Service", "calls", "Service"),
        ("Service", "reads_writes", "DbInstance"),
        ("ConsumerGroup", "consumes_from", "KafkaTopic"),
        ("Deployment", "mounts", "ConfigMap"),
        ("Pod", "controlled_by", "ReplicaSet"),
        ("DbParameterGroup", "constrains", "DbInstance"),
        ("RoleBinding", "grants", "ServiceAccount"),
    ],
)
def test_usual_edges_are_allowed(src: str, predicate: str, dst: str):
    """Edges that any real system has fit a signature."""
    ontology.check_edge(src, predicate, dst)
    assert predicate in ontology.allowed(src, dst)


def test_a_misspelt_kind_is_refused_with_what_comes_near():
    """The error says which kinds were probably meant."""
    with pytest.raises(WorldError, match="Deployment"):
        ontology.check_kind("Deploymnt")


def test_an_edge_against_its_signature_is_refused():
    """A team calls nothing, and nothing calls a team."""
    with pytest.raises(WorldError, match="cannot start at a Team"):
        ontology.check_edge("Team", "calls", "Service")
    with pytest.raises(WorldError, match="cannot end at a Team"):
        ontology.check_edge("Service", "calls", "Team")


def test_provenance_is_a_closed_list_and_confidence_a_share():
    """Who said it, through what and how sure are all checked."""
    ontology.check_provenance("observed", 0.5, "k8s", where="fact")
    for bad in (("guessed", 0.5, "k8s"), ("observed", 1.5, "k8s"), ("observed", 0.5, "rumour")):
        with pytest.raises(WorldError):
            ontology.check_provenance(*bad, where="fact")


def test_a_topology_with_a_dangling_edge_is_refused():
    """Every edge and fact of a topology hangs on an entity of it."""
    one = TopologyEntity("e-00000001", "Service", "a")
    Topology([one], [], [TopologyFact(one.id, "image", "a:1")]).check()
    with pytest.raises(WorldError, match="is not an entity"):
        Topology([one], [TopologyEdge(one.id, "calls", "e-00000002")]).check()
    with pytest.raises(WorldError, match="is not an entity"):
        Topology([one], [], [TopologyFact("e-00000002", "image", 1)]).check()
    with pytest.raises(WorldError, match="given twice"):
        Topology([one, one]).check()


def test_near_words_of_a_set_come_in_one_order_in_every_process():
    """Where several come equally close, a set's own order would differ from process to process."""
    words = {f"pool-{letter}" for letter in "gacebdf"}
    assert near("pool-", words) == near("pool-", sorted(words)) == ("pool-a", "pool-b", "pool-c")
