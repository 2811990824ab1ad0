"""Calls that were made to a cloud, as its trail recorded them: writes become changes."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from heldout.ingest.changes.people import Actor, People
from heldout.ingest.changes.record import Change, CloudTarget, Moved, flat
from heldout.ingest.cloud.shape import arn_parts, shape_of_arn, shapes
from heldout.ingest.moments import moment
from heldout.ingest.objects import sequence

READS = re.compile(
    r"^(?:Get|List|Describe|Head|Lookup|Search|Scan|Query|Select|View|Check|Test|Validate|Preview"
    r"|Estimate|Discover|BatchGet|BatchDescribe|Download|Simulate|AssumeRole|Decrypt|Encrypt"
    r"|GenerateDataKey|Verify|Sign$|ConsoleLogin|SwitchRole|Retrieve|Poll|Receive)"
)
THROTTLES = re.compile(
    r"(?i)(throttl|requestlimit|toomanyrequests|slowdown|rateexceeded|priorrequest)"
)
_AT_MOST = 8

_BY_PARAMETER: Mapping[str, str] = {
    "instanceId": "VmInstance", "volumeId": "Volume", "launchTemplateId": "LaunchTemplate",
    "autoScalingGroupName": "AutoScalingGroup", "functionName": "Function",
    "dBInstanceIdentifier": "DbInstance", "dBClusterIdentifier": "DbCluster",
    "dBParameterGroupName": "DbParameterGroup", "tableName": "Table",
    "cacheClusterId": "Cache", "replicationGroupId": "ReplicationGroup", "queueUrl": "Queue",
    "topicArn": "Topic", "bucketName": "Bucket", "loadBalancerArn": "LoadBalancer",
    "targetGroupArn": "TargetGroup", "hostedZoneId": "HostedZone",
    "certificateArn": "Certificate", "restApiId": "RestApi", "logGroupName": "LogGroup",
    "roleName": "IamRole", "policyArn": "IamPolicy", "instanceProfileName": "InstanceProfile",
    "userName": "IamUser", "groupName": "", "keyId": "KmsKey", "secretId": "SecretsManagerSecret",
    "vpcId": "Vpc", "subnetId": "Subnet", "groupId": "SecurityGroup",
    "routeTableId": "RouteTable", "networkAclId": "NetworkAcl",
    "internetGatewayId": "InternetGateway", "natGatewayId": "NatGateway",
    "allocationId": "ElasticIp", "networkInterfaceId": "NetworkInterface",
    "vpcEndpointId": "VpcEndpoint", "nodegroupName": "EksNodeGroup",
}  # fmt: skip
"""Names of parameters that name a resource, and the shape that they mean."""

_ORDER = tuple(_BY_PARAMETER)
_NOT_SETTINGS = re.compile(
    r"(?i)(clienttoken|dryrun|^filter|maxresults|nexttoken|requestid|_return|includesd?deleted)"
)


class Trail:
    """Reads events; ``counts`` says what was no change, by what it was."""

    def __init__(self, people: People) -> None:
        self._people = people
        self.counts: Counter[str] = Counter()

    def read(self, document: Any) -> Iterator[Change]:
        """The changes of a document: a file of records, a list, or one event of a bus."""
        for event in events(document):
            found = self._change(event)
            if found is not None:
                yield found

    def _change(self, event: Mapping[str, Any]) -> Change | None:
        name = str(event.get("eventName") or "")
        at = moment(event.get("eventTime"))
        if at is None:
            self.counts["call without a time"] += 1
            return None
        if is_read(event):
            self.counts["call that only reads"] += 1
            return None
        error = str(event.get("errorCode") or "")
        if error and THROTTLES.search(error):
            self.counts["call that was throttled"] += 1
            return None
        service = str(event.get("eventSource") or "").removesuffix(".amazonaws.com")
        actor = self._actor(event)
        targets = tuple(_targets(event))
        key = str(event.get("eventID") or f"{at}{service}{name}{event.get('requestID')}")
        return Change(
            f"trail\x1f{key}",
            at,
            _type(service, name),
            actor.name,
            actor.kind,
            "aws",
            f"{service} {name}" + (f" of {targets[0].local}" if targets else ""),
            targets,
            () if error else _moved(event, name),
            error,
        )

    def _actor(self, event: Mapping[str, Any]) -> Actor:
        who = _mapping(event.get("userIdentity"))
        kind = str(who.get("type") or "")
        if kind == "AWSService" or event.get("eventType") == "AwsServiceEvent":
            return self._people.provider(str(who.get("invokedBy") or "aws"))
        agent = str(event.get("userAgent") or "")
        arn = str(who.get("arn") or "")
        if kind == "AssumedRole":
            issuer = _mapping(_mapping(who.get("sessionContext")).get("sessionIssuer"))
            parts = arn.split("/")
            role = str(issuer.get("userName") or (parts[1] if len(parts) > 1 else ""))
            found = self._people.role(role, parts[2] if len(parts) > 2 else "")
        else:
            name = str(
                who.get("userName") or arn.rsplit("/", 1)[-1] or who.get("principalId") or ""
            )
            found = self._people.person("root" if kind == "Root" else name)
        if "terraform" in agent.lower() and found.kind == "person":
            return Actor(f"{found.name} (terraform)", "bot")
        if who.get("invokedBy") and found.kind == "person":
            return Actor(str(who["invokedBy"]), "provider")
        return found


def events(document: Any) -> Iterator[Mapping[str, Any]]:
    """Trail events, however they are wrapped: ``Records``, a list, or a bus event's ``detail``."""
    if isinstance(document, list):
        for one in document:
            yield from events(one)
    elif isinstance(document, Mapping):
        if isinstance(document.get("Records"), list):
            yield from events(document["Records"])
        elif isinstance(document.get("CloudTrailEvent"), str):
            import json

            try:
                yield from events(json.loads(document["CloudTrailEvent"]))
            except ValueError:
                return
        elif isinstance(document.get("detail"), Mapping) and "eventName" in document["detail"]:
            yield {"eventTime": document.get("time"), **document["detail"]}
        elif "eventName" in document and "eventSource" in document:
            yield document


def is_read(event: Mapping[str, Any]) -> bool:
    """Whether a call only reads: it says so, or where it does not its name does."""
    told = event.get("readOnly")
    if isinstance(told, str) and told.lower() in ("true", "false"):
        told = told.lower() == "true"
    if isinstance(told, bool):
        return told
    return bool(READS.match(str(event.get("eventName") or "")))


def _type(service: str, name: str) -> str:
    if service in ("secretsmanager", "ssm") and ("Secret" in name or "Parameter" in name):
        return "secret"
    if service in ("acm", "acm-pca"):
        return "certificate"
    if service == "autoscaling" or "DesiredCapacity" in name:
        return "scale"
    return "cloud_api"


def _targets(event: Mapping[str, Any]) -> Iterator[CloudTarget]:
    """What a call is about: resources that it lists, then those that its parameters name."""
    account = str(event.get("recipientAccountId") or "")
    region = str(event.get("awsRegion") or "")
    seen: set[tuple[str, str]] = set()
    for arn in _arns(event):
        shape = shape_of_arn(arn)
        parts = arn_parts(arn)
        if parts is None:
            continue
        local = shape.local_id(arn) if shape else arn.split(":", 5)[5]
        key = (shape.name if shape else parts.service, local)
        if key not in seen and len(seen) < _AT_MOST:
            seen.add(key)
            yield CloudTarget(shape.name if shape else "", local, arn, parts.account, parts.region)
    wanted = flat(_mapping(event.get("requestParameters")))
    made = flat(_mapping(event.get("responseElements")))
    for where in (wanted, made):
        for path, value in sorted(where.items(), key=lambda one: _rank(one[0])):
            shape_name = _BY_PARAMETER.get(path.rsplit(".", 1)[-1])
            if shape_name is None or not isinstance(value, str) or not value:
                continue
            shape = shapes().get(shape_name)
            local = shape.local_id(value) if shape else value
            if (shape_name, local) not in seen and len(seen) < _AT_MOST and shape is not None:
                seen.add((shape_name, local))
                place = region if shape.regional else ""
                yield CloudTarget(shape_name, local, "", account, place)


def _rank(path: str) -> tuple[int, str]:
    last = path.rsplit(".", 1)[-1]
    return (path.count("."), f"{_ORDER.index(last):03}" if last in _BY_PARAMETER else path)


def _arns(event: Mapping[str, Any]) -> Iterator[str]:
    for one in sequence(event.get("resources")):
        arn = _mapping(one).get("ARN") or _mapping(one).get("arn")
        if isinstance(arn, str) and ":role/aws-service-role/" not in arn:
            yield arn
    for part in ("requestParameters", "responseElements"):
        for path, value in flat(_mapping(event.get(part))).items():
            last = path.rsplit(".", 1)[-1].lower()
            if isinstance(value, str) and last.endswith("arn") and not last.startswith("source"):
                yield value


def _moved(event: Mapping[str, Any], name: str) -> tuple[Moved, ...]:
    """Settings that a call made; what they were before is not in a trail."""
    if name.startswith(("Delete", "Terminate", "Remove", "Detach", "Disassociate", "Release")):
        return ()
    found = [
        Moved(path, None, value)
        for path, value in flat(_mapping(event.get("requestParameters"))).items()
        if value not in (None, "", [], {})
        and path.rsplit(".", 1)[-1] not in _BY_PARAMETER
        and not _NOT_SETTINGS.search(path)
        and len(str(value)) <= 2_000
    ]
    return tuple(found[:20])


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}
