"""What a running resource says about who made it: the provider, a service, another tool.

Nobody declares these by hand, so that a report of what is not declared names them apart.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from heldout.ingest.cloud.forms import dig, pick, text
from heldout.ingest.cloud.shape import Attributes

_TAGGED = (
    ("aws:cloudformation:stack-name", "CloudFormation stack {}"),
    ("aws:autoscaling:groupName", "autoscaling group {}"),
    ("eks:nodegroup-name", "EKS node group {}"),
    ("aws:eks:cluster-name", "EKS cluster {}"),
    ("eks:cluster-name", "EKS cluster {}"),
    ("elbv2.k8s.aws/cluster", "load balancer controller of {}"),
    ("ingress.k8s.aws/cluster", "load balancer controller of {}"),
    ("kubernetes.io/service-name", "Kubernetes service {}"),
    ("kubernetes.io/created-for/pvc/name", "Kubernetes volume claim {}"),
    ("karpenter.sh/nodepool", "Karpenter pool {}"),
    ("karpenter.sh/provisioner-name", "Karpenter provisioner {}"),
    ("aws:elasticmapreduce:job-flow-id", "EMR cluster {}"),
    ("elasticbeanstalk:environment-name", "Elastic Beanstalk environment {}"),
    ("aws:backup:source-resource", "backup of {}"),
)  # fmt: skip
_DEFAULT = "the provider's default"
_MANAGED = "the provider"


def made_by(shape: str, attributes: Attributes) -> str:
    """Who made a running resource, empty where nothing says that it was not made by hand or by IaC.

    Tags of the provider and of controllers first, then what is known of the shape.
    """
    labels = _labels(attributes)
    for key, words in _TAGGED:
        if labels.get(key):
            return words.format(labels[key][:80])
    rule = _RULES.get(shape)
    return rule(attributes) if rule else ""


def _labels(attributes: Attributes) -> dict[str, str]:
    value = dig(attributes, "tags|tag_list|tag_set")
    if isinstance(value, Mapping):
        return {str(key): str(inner) for key, inner in value.items()}
    pairs = value if isinstance(value, list) else []
    return {str(pick(one, "key")): str(pick(one, "value")) for one in pairs if pick(one, "key")}


def _yes(value: Any) -> bool:
    return value is True or value == "true"


def _default_flag(*names: str) -> Callable[[Attributes], str]:
    return lambda one: _DEFAULT if any(_yes(pick(one, name)) for name in names) else ""


def _main_table(one: Attributes) -> str:
    main = dig(one, "associations[].main")
    return "the main table of its VPC" if isinstance(main, list) and any(map(_yes, main)) else ""


def _group(one: Attributes) -> str:
    name = text(pick(one, "group_name")) or ""
    if name == "default":
        return _DEFAULT
    return "an EKS cluster" if name.startswith("eks-cluster-sg-") else ""


def _role(one: Attributes) -> str:
    path = text(pick(one, "path")) or text(pick(one, "arn")) or ""
    return "a service-linked role" if "/aws-service-role/" in path else ""


def _policy(one: Attributes) -> str:
    arn = text(pick(one, "arn")) or ""
    return _MANAGED if re.match(r"arn:aws[a-z-]*:iam::aws:", arn) else ""


def _key(one: Attributes) -> str:
    return _MANAGED if text(pick(one, "key_manager")) == "AWS" else ""


def _alias(one: Attributes) -> str:
    return _MANAGED if (text(pick(one, "alias_name")) or "").startswith("alias/aws/") else ""


def _named(prefix: str, *names: str) -> Callable[[Attributes], str]:
    def rule(one: Attributes) -> str:
        found = next((word for name in names if (word := text(pick(one, name)))), "")
        return _DEFAULT if found.startswith(prefix) else ""

    return rule


def _interface(one: Attributes) -> str:
    if _yes(pick(one, "requester_managed")):
        return f"service {text(pick(one, 'requester_id')) or 'of the provider'}"
    attached = text(dig(one, "attachment.instance_id"))
    return f"instance {attached}" if attached else ""


def _volume(one: Attributes) -> str:
    attached = dig(one, "attachments[].delete_on_termination")
    return "its instance" if isinstance(attached, list) and any(map(_yes, attached)) else ""


def _record(one: Attributes) -> str:
    zone_own = text(pick(one, "type")) in ("NS", "SOA") and _yes(pick(one, "_apex"))
    return "its hosted zone" if zone_own else ""


def _log_group(one: Attributes) -> str:
    name = text(pick(one, "log_group_name")) or ""
    return "a service" if name.startswith("/aws/") else ""


_RULES: Mapping[str, Callable[[Attributes], str]] = {
    "Vpc": _default_flag("is_default"),
    "Subnet": _default_flag("default_for_az"),
    "NetworkAcl": _default_flag("is_default"),
    "RouteTable": _main_table,
    "SecurityGroup": _group,
    "IamRole": _role,
    "IamPolicy": _policy,
    "KmsKey": _key,
    "KmsAlias": _alias,
    "DbParameterGroup": _named("default.", "db_parameter_group_name"),
    "DbClusterParameterGroup": _named("default.", "db_cluster_parameter_group_name"),
    "DbOptionGroup": _named("default:", "option_group_name"),
    "NetworkInterface": _interface,
    "Volume": _volume,
    "DnsRecord": _record,
    "LogGroup": _log_group,
}
