"""States, plans and inventories of an invented estate, as each tool writes them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

ACCOUNT = "210987654321"
REGION = "eu-west-1"


def arn(service: str, path: str, *, account: str = ACCOUNT, region: str = REGION) -> str:
    """An ARN of the invented account."""
    return f"arn:aws:{service}:{region}:{account}:{path}"


def managed(type_: str, name: str, *instances: dict[str, Any], **extra: Any) -> dict[str, Any]:
    """A managed resource of a state of version 4."""
    return {
        "mode": "managed",
        "type": type_,
        "name": name,
        "provider": 'provider["registry.terraform.io/hashicorp/aws"]',
        "instances": [{"schema_version": 0, "attributes": one} for one in instances],
        **extra,
    }


def state(*resources: dict[str, Any], serial: int = 7, lineage: str = "line-a") -> dict[str, Any]:
    """A state of version 4."""
    return {
        "version": 4,
        "terraform_version": "1.9.5",
        "serial": serial,
        "lineage": lineage,
        "outputs": {},
        "resources": list(resources),
    }


def network() -> dict[str, Any]:
    """A VPC with a subnet, a group whose rules stand apart, a table with a route, an ACL."""
    vpc = {"id": "vpc-0a1", "arn": arn("ec2", "vpc/vpc-0a1"), "cidr_block": "10.40.0.0/16",
           "enable_dns_hostnames": True, "tags": {"Name": "edge"}, "owner_id": ACCOUNT}  # fmt: skip
    subnet = {"id": "subnet-0b1", "arn": arn("ec2", "subnet/subnet-0b1"), "vpc_id": "vpc-0a1",
              "cidr_block": "10.40.1.0/24", "availability_zone": "eu-west-1a",
              "map_public_ip_on_launch": False, "tags": {}}  # fmt: skip
    group = {"id": "sg-0c1", "arn": arn("ec2", "security-group/sg-0c1"), "name": "web",
             "description": "web tier", "vpc_id": "vpc-0a1", "ingress": [], "egress": [],
             "tags": {"Team": "edge"}}  # fmt: skip
    rule = {"id": "sgrule-1", "security_group_id": "sg-0c1", "type": "ingress", "protocol": "tcp",
            "from_port": 443, "to_port": 443, "cidr_blocks": ["10.0.0.0/8"], "self": False}  # fmt: skip
    own = {**rule, "id": "sgrule-2", "from_port": 9000, "to_port": 9100, "cidr_blocks": [],
           "self": True}  # fmt: skip
    table = {"id": "rtb-0d1", "arn": arn("ec2", "route-table/rtb-0d1"), "vpc_id": "vpc-0a1",
             "route": [], "tags": {}}  # fmt: skip
    route = {"id": "r-1", "route_table_id": "rtb-0d1", "destination_cidr_block": "0.0.0.0/0",
             "gateway_id": "igw-0e1", "nat_gateway_id": ""}  # fmt: skip
    tie = {"id": "rtbassoc-1", "route_table_id": "rtb-0d1", "subnet_id": "subnet-0b1"}
    acl = {"id": "acl-0f1", "vpc_id": "vpc-0a1", "subnet_ids": ["subnet-0b1"], "egress": [],
           "ingress": [{"rule_no": 100, "action": "allow", "protocol": "6", "from_port": 443,
                        "to_port": 443, "cidr_block": "0.0.0.0/0"}]}  # fmt: skip
    return state(
        managed("aws_vpc", "edge", vpc),
        managed("aws_subnet", "edge", subnet),
        managed("aws_security_group", "web", group),
        managed("aws_security_group_rule", "web", rule, own),
        managed("aws_route_table", "edge", table),
        managed("aws_route", "out", route),
        managed("aws_route_table_association", "edge", tie),
        managed("aws_network_acl", "edge", acl),
    )


def platform() -> dict[str, Any]:
    """A role with an attachment, a database with a password, a balancer, a queue, a made-up type."""
    role = {"id": "worker", "name": "worker", "arn": arn("iam", "role/worker", region=""),
            "path": "/", "max_session_duration": 3600, "managed_policy_arns": [],
            "assume_role_policy": json.dumps({"Version": "2012-10-17", "Statement": [
                {"Effect": "Allow", "Action": "sts:AssumeRole",
                 "Principal": {"Service": "ec2.amazonaws.com"}}]}), "tags": {}}  # fmt: skip
    policy = {"id": arn("iam", "policy/read-queue", region=""), "name": "read-queue", "path": "/",
              "arn": arn("iam", "policy/read-queue", region=""),
              "policy": json.dumps({"Statement": {"Effect": "Allow", "Action": ["sqs:ReceiveMessage"],
                                                  "Resource": "*"}})}  # fmt: skip
    attached = {"id": "worker-1", "role": "worker",
                "policy_arn": arn("iam", "policy/read-queue", region="")}  # fmt: skip
    store = {"id": "orders", "identifier": "orders", "arn": arn("rds", "db:orders"),
             "engine": "postgres", "engine_version": "16", "engine_version_actual": "16.3",
             "instance_class": "db.r6g.large", "multi_az": True, "allocated_storage": 200,
             "backup_retention_period": 7, "password": "hunter2-is-not-it", "port": 5432,
             "vpc_security_group_ids": ["sg-0c1"], "parameter_group_name": "orders-params",
             "storage_encrypted": True, "tags": {}}  # fmt: skip
    params = {"id": "orders-params", "name": "orders-params", "family": "postgres16",
              "arn": arn("rds", "pg:orders-params"), "description": "orders",
              "parameter": [{"name": "max_connections", "value": "400"}]}  # fmt: skip
    balancer = {"id": arn("elasticloadbalancing", "loadbalancer/app/front/1a2b"), "name": "front",
                "arn": arn("elasticloadbalancing", "loadbalancer/app/front/1a2b"),
                "arn_suffix": "app/front/1a2b", "internal": False, "load_balancer_type": "application",
                "dns_name": "front-77.eu-west-1.elb.amazonaws.com", "vpc_id": "vpc-0a1",
                "security_groups": ["sg-0c1"], "subnets": ["subnet-0b1"], "idle_timeout": 60,
                "ip_address_type": "ipv4"}  # fmt: skip
    targets = {"id": arn("elasticloadbalancing", "targetgroup/web/9z"), "name": "web",
               "arn": arn("elasticloadbalancing", "targetgroup/web/9z"), "port": 8080,
               "arn_suffix": "targetgroup/web/9z", "protocol": "HTTP", "target_type": "instance",
               "vpc_id": "vpc-0a1", "health_check": [{"path": "/live", "interval": 15}]}  # fmt: skip
    listener = {"id": "l-1", "load_balancer_arn": balancer["arn"], "port": 443, "protocol": "HTTPS",
                "certificate_arn": arn("acm", "certificate/c-1"),
                "default_action": [{"type": "forward", "target_group_arn": targets["arn"]}]}  # fmt: skip
    machine = {"id": "i-0aa1", "arn": arn("ec2", "instance/i-0aa1"), "ami": "ami-5",
               "instance_type": "m6i.large", "availability_zone": "eu-west-1a",
               "subnet_id": "subnet-0b1", "vpc_security_group_ids": ["sg-0c1"],
               "monitoring": False, "tags": {"Name": "web-1"}}  # fmt: skip
    placed = {"id": "tga-1", "target_group_arn": targets["arn"], "target_id": "i-0aa1", "port": 80}
    record = {"id": "Z0ZONE123AB_www.shop.example_A", "name": "www.shop.example",
              "fqdn": "www.shop.example", "type": "A", "zone_id": "Z0ZONE123AB", "records": None,
              "alias": [{"name": "Front-77.eu-west-1.elb.amazonaws.com.", "zone_id": "Z9"}]}  # fmt: skip
    certificate = {"id": arn("acm", "certificate/c-1"), "arn": arn("acm", "certificate/c-1"),
                   "domain_name": "www.shop.example",
                   "subject_alternative_names": ["www.shop.example"]}  # fmt: skip
    cluster = {"id": "main", "name": "main", "arn": arn("eks", "cluster/main"), "version": "1.31",
               "role_arn": arn("iam", "role/worker", region=""),
               "vpc_config": [{"vpc_id": "vpc-0a1", "endpoint_public_access": True,
                               "public_access_cidrs": ["0.0.0.0/0"],
                               "security_group_ids": ["sg-0c1"]}]}  # fmt: skip
    pool = {"id": "main:general", "node_group_name": "general", "cluster_name": "main",
            "arn": arn("eks", "nodegroup/main/general/0c-1"), "instance_types": ["m6i.large"],
            "scaling_config": [{"min_size": 2, "max_size": 6, "desired_size": 3}],
            "node_role_arn": arn("iam", "role/worker", region=""), "version": "1.31",
            "subnet_ids": ["subnet-0b1"], "disk_size": 50}  # fmt: skip
    queue = {"id": f"https://sqs.eu-west-1.amazonaws.com/{ACCOUNT}/jobs", "name": "jobs",
             "arn": arn("sqs", "jobs"), "visibility_timeout_seconds": 30}  # fmt: skip
    bucket = {"id": "shop-exports", "bucket": "shop-exports", "arn": "arn:aws:s3:::shop-exports",
              "versioning": [{"enabled": False}], "tags": {}}  # fmt: skip
    versioned = {"id": "shop-exports", "bucket": "shop-exports",
                 "versioning_configuration": [{"status": "Enabled"}]}  # fmt: skip
    odd = {"id": "flow-1", "arn": arn("appflow", "flow/flow-1"), "name": "nightly",
           "trigger_password": "swordfish-9", "enabled": True}  # fmt: skip
    secret = [[{"type": "get_attr", "value": "password"}]]
    held = managed("aws_db_instance", "orders", store)
    held["instances"][0]["sensitive_attributes"] = secret
    return state(
        managed("aws_iam_role", "worker", role),
        managed("aws_iam_policy", "read_queue", policy),
        managed("aws_iam_role_policy_attachment", "worker", attached),
        held,
        managed("aws_db_parameter_group", "orders", params),
        managed("aws_lb", "front", balancer),
        managed("aws_lb_target_group", "web", targets),
        managed("aws_lb_listener", "front", listener),
        managed("aws_instance", "web", machine, module="module.web"),
        managed("aws_lb_target_group_attachment", "web", placed),
        managed("aws_route53_record", "www", record),
        managed("aws_acm_certificate", "www", certificate),
        managed("aws_eks_cluster", "main", cluster),
        managed("aws_eks_node_group", "general", pool),
        managed("aws_sqs_queue", "jobs", queue),
        managed("aws_s3_bucket", "exports", bucket),
        managed("aws_s3_bucket_versioning", "exports", versioned),
        managed("aws_appflow_flow", "nightly", odd),
        managed("aws_ami", "base", {"id": "ami-5"}, mode="data"),
        lineage="line-b",
    )


def version_3() -> dict[str, Any]:
    """A state of version 3, with attributes as flat keys."""
    return {
        "version": 3,
        "terraform_version": "0.11.14",
        "serial": 3,
        "lineage": "line-old",
        "modules": [
            {"path": ["root"], "outputs": {}, "resources": {
                "aws_security_group.db": {
                    "type": "aws_security_group", "provider": "provider.aws", "primary": {
                        "id": "sg-0old", "attributes": {
                            "id": "sg-0old", "name": "db", "vpc_id": "vpc-0old",
                            "arn": arn("ec2", "security-group/sg-0old"),
                            "ingress.#": "1", "ingress.77.from_port": "5432",
                            "ingress.77.to_port": "5432", "ingress.77.protocol": "tcp",
                            "ingress.77.cidr_blocks.#": "2",
                            "ingress.77.cidr_blocks.0": "10.1.0.0/16",
                            "ingress.77.cidr_blocks.1": "10.2.0.0/16",
                            "tags.%": "1", "tags.Name": "db"}}},
                "data.aws_ami.base": {"type": "aws_ami", "primary": {"id": "ami-5"}}}},
            {"path": ["root", "web"], "resources": {
                "aws_instance.web.1": {"type": "aws_instance", "primary": {
                    "id": "i-0old", "attributes": {"id": "i-0old", "instance_type": "m5.large"}}}}},
        ],
    }  # fmt: skip


def plan() -> dict[str, Any]:
    """A plan: one instance is resized, one bucket is to be made, one role stays."""
    before = {"id": "i-0aa1", "arn": arn("ec2", "instance/i-0aa1"), "instance_type": "m6i.large",
              "tags": {"Name": "web-1"}, "user_data_hash": "one"}  # fmt: skip
    after = {**before, "instance_type": "m6i.xlarge", "user_data_hash": "two"}
    return {
        "format_version": "1.2",
        "terraform_version": "1.9.5",
        "planned_values": {"root_module": {}},
        "prior_state": {"format_version": "1.0", "values": {"root_module": {"child_modules": [
            {"address": "module.web", "resources": [
                {"address": "module.web.aws_instance.web", "mode": "managed", "type": "aws_instance",
                 "name": "web", "provider_name": "registry.terraform.io/hashicorp/aws",
                 "values": before}]}]}}},
        "resource_changes": [
            change("module.web.aws_instance.web", "aws_instance", ["update"], before, after),
            change("aws_s3_bucket.new", "aws_s3_bucket", ["create"], None,
                   {"bucket": "shop-new", "tags": {"Team": "edge"}}),
            change("aws_iam_role.worker", "aws_iam_role", ["no-op"], {"id": "worker"},
                   {"id": "worker"}),
        ],
    }  # fmt: skip


def change(
    address: str,
    type_: str,
    actions: list[str],
    before: dict[str, Any] | None,
    after: dict[str, Any] | None,
) -> dict[str, Any]:
    """One entry of a plan's ``resource_changes``."""
    return {
        "address": address,
        "mode": "managed",
        "type": type_,
        "name": address.rsplit(".", 1)[-1],
        "provider_name": "registry.terraform.io/hashicorp/aws",
        "change": {"actions": actions, "before": before, "after": after},
    }


def apply_log() -> str:
    """What ``terraform apply -json`` prints for that plan, mixed with a line of a wrapper."""
    lines = [
        {"@level": "info", "@message": "Terraform 1.9.5", "type": "version"},
        {"@level": "info", "@message": "done", "@timestamp": "2026-02-20T09:15:02.5Z",
         "type": "apply_complete", "hook": {
             "resource": {"addr": "module.web.aws_instance.web"}, "action": "update",
             "id_key": "id", "id_value": "i-0aa1"}},
        {"@level": "info", "@message": "done", "@timestamp": "2026-02-20T09:15:04Z",
         "type": "apply_complete", "hook": {
             "resource": {"addr": "aws_s3_bucket.new"}, "action": "create",
             "id_key": "id", "id_value": "shop-new"}},
    ]  # fmt: skip
    return "\n".join([*map(json.dumps, lines), "wrapper: finished"]) + "\n"


def put(folder: Path, name: str, content: Any) -> Path:
    """Write a file below a folder, data as JSON."""
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content if isinstance(content, str) else json.dumps(content))
    return path
