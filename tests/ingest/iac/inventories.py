"""The running side of the same invented estate, as describe and list calls print it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.ingest.iac.states import ACCOUNT, REGION, arn, put

AT = "2026-02-18T10:00:00.000Z"
LATER = "2026-02-19T11:30:00.000Z"


def answers() -> dict[str, Any]:
    """Answers by file name: what is declared, with three differences, and what nobody declared."""
    machine = {"InstanceId": "i-0aa1", "ImageId": "ami-5", "InstanceType": "m6i.large",
               "Placement": {"AvailabilityZone": "eu-west-1a"}, "SubnetId": "subnet-0b1",
               "State": {"Name": "running"}, "Monitoring": {"State": "disabled"},
               "SecurityGroups": [{"GroupId": "sg-0c1", "GroupName": "web"}],
               "Tags": [{"Key": "Name", "Value": "web-1"}]}  # fmt: skip
    by_hand = {**machine, "InstanceId": "i-0bb2", "Tags": [{"Key": "Name", "Value": "debug"}]}
    scaled = {**machine, "InstanceId": "i-0cc3",
              "Tags": [{"Key": "aws:autoscaling:groupName", "Value": "general"}]}  # fmt: skip
    group = {"GroupId": "sg-0c1", "GroupName": "web", "Description": "web tier", "VpcId": "vpc-0a1",
             "OwnerId": ACCOUNT, "IpPermissionsEgress": [], "IpPermissions": [
                 {"IpProtocol": "tcp", "FromPort": 443, "ToPort": 443,
                  "IpRanges": [{"CidrIp": "10.0.0.0/8"}]},
                 {"IpProtocol": "tcp", "FromPort": 9000, "ToPort": 9100,
                  "UserIdGroupPairs": [{"GroupId": "sg-0c1", "UserId": ACCOUNT}]},
                 {"IpProtocol": "tcp", "FromPort": 22, "ToPort": 22,
                  "IpRanges": [{"CidrIp": "203.0.113.9/32"}]}],
             "Tags": [{"Key": "Team", "Value": "edge"}]}  # fmt: skip
    default = {"GroupId": "sg-0def", "GroupName": "default", "VpcId": "vpc-0a1",
               "OwnerId": ACCOUNT, "IpPermissions": [], "IpPermissionsEgress": []}  # fmt: skip
    table = {"RouteTableId": "rtb-0d1", "VpcId": "vpc-0a1", "OwnerId": ACCOUNT,
             "Associations": [],
             "Routes": [{"DestinationCidrBlock": "10.40.0.0/16", "GatewayId": "local"},
                        {"DestinationCidrBlock": "0.0.0.0/0", "GatewayId": "igw-0e1",
                         "Origin": "CreateRoute"}]}  # fmt: skip
    store = {"DBInstanceIdentifier": "orders", "DBInstanceArn": arn("rds", "db:orders"),
             "Engine": "postgres", "EngineVersion": "16.3", "DBInstanceClass": "db.r6g.large",
             "MultiAZ": False, "AllocatedStorage": 200, "BackupRetentionPeriod": 7,
             "DBInstanceStatus": "available", "StorageEncrypted": True,
             "VpcSecurityGroups": [{"VpcSecurityGroupId": "sg-0c1", "Status": "active"}],
             "DBParameterGroups": [{"DBParameterGroupName": "orders-params"}],
             "Endpoint": {"Address": "orders.example", "Port": 5432}}  # fmt: skip
    role = {"Path": "/", "RoleName": "worker", "Arn": arn("iam", "role/worker", region=""),
            "MaxSessionDuration": 3600, "AssumeRolePolicyDocument": {
                "Version": "2012-10-17", "Statement": [
                    {"Effect": "Allow", "Action": ["sts:AssumeRole"],
                     "Principal": {"Service": ["ec2.amazonaws.com"]}}]}}  # fmt: skip
    linked = {"Path": "/aws-service-role/rds.amazonaws.com/", "RoleName": "AWSServiceRoleForRDS",
              "Arn": arn("iam", "role/aws-service-role/rds.amazonaws.com/AWSServiceRoleForRDS",
                         region="")}  # fmt: skip
    balancer = {"LoadBalancerArn": arn("elasticloadbalancing", "loadbalancer/app/front/1a2b"),
                "LoadBalancerName": "front", "Scheme": "internet-facing", "Type": "application",
                "DNSName": "front-77.eu-west-1.elb.amazonaws.com", "VpcId": "vpc-0a1",
                "SecurityGroups": ["sg-0c1"], "IpAddressType": "ipv4",
                "AvailabilityZones": [{"SubnetId": "subnet-0b1"}]}  # fmt: skip
    return {
        "describe-vpcs": {"Vpcs": [{"VpcId": "vpc-0a1", "CidrBlock": "10.40.0.0/16",
                                    "OwnerId": ACCOUNT, "IsDefault": False,
                                    "Tags": [{"Key": "Name", "Value": "edge"}]}]},
        "describe-instances": {"Reservations": [
            {"OwnerId": ACCOUNT, "Instances": [machine, by_hand, scaled]}]},
        "describe-security-groups": {"SecurityGroups": [group, default]},
        "describe-route-tables": {"RouteTables": [table]},
        "describe-db-instances": {"DBInstances": [store]},
        "list-roles": {"Roles": [role, linked]},
        "describe-load-balancers": {"LoadBalancers": [balancer]},
        "list-queues": {"QueueUrls": [f"https://sqs.{REGION}.amazonaws.com/{ACCOUNT}/jobs"]},
        "list-buckets": {"Buckets": [{"Name": "shop-exports", "CreationDate": AT},
                                     {"Name": "shop-scratch", "CreationDate": AT}],
                         "Owner": {"ID": "abc"}},
        "list-certificates": {"CertificateSummaryList": []},
        "describe-subnets": {"Subnets": [], "NextToken": "more"},
        "list-things": {"Things": [{"ThingArn": "x"}, {"id": "t-2", "arn": arn("iot", "thing/t")}]},
        "Z0ZONE123AB-list-resource-record-sets": {"ResourceRecordSets": [
            {"Name": "shop.example.", "Type": "SOA", "TTL": 900, "ResourceRecords": []},
            {"Name": "shop.example.", "Type": "NS", "TTL": 900, "ResourceRecords": []},
            {"Name": "www.shop.example.", "Type": "A", "AliasTarget": {
                "DNSName": "front-77.eu-west-1.elb.amazonaws.com.", "HostedZoneId": "Z9"}}]},
    }  # fmt: skip


def put_answers(folder: Path) -> Path:
    """The answers below a folder by account and region, as an export script leaves them."""
    for name, content in answers().items():
        put(folder, f"{ACCOUNT}/{REGION}/{name}.json", content)
    return folder


def item(
    type_: str, id_: str, configuration: Any, *, at: str = AT, status: str = "OK", **extra: Any
) -> dict[str, Any]:
    """One configuration item of a recorder."""
    return {
        "configurationItemVersion": "1.3",
        "configurationItemCaptureTime": at,
        "configurationItemStatus": status,
        "awsAccountId": ACCOUNT,
        "awsRegion": REGION,
        "resourceType": type_,
        "resourceId": id_,
        "configuration": configuration,
        **extra,
    }


def group_item(*sources: str, at: str = AT, status: str = "OK") -> dict[str, Any]:
    """A security group as recorded, with one rule of port 443 for each source."""
    configuration = {"groupId": "sg-0c1", "groupName": "web", "vpcId": "vpc-0a1",
                     "ownerId": ACCOUNT, "ipPermissionsEgress": [], "ipPermissions": [
                         {"ipProtocol": "tcp", "fromPort": 443, "toPort": 443,
                          "ipv4Ranges": [{"cidrIp": source}], "ipRanges": [source]}
                         for source in sources]}  # fmt: skip
    given = None if status.startswith("ResourceDeleted") else configuration
    return item("AWS::EC2::SecurityGroup", "sg-0c1", given, at=at, status=status,
                ARN=arn("ec2", "security-group/sg-0c1"), tags={"Team": "edge"},
                relatedEvents=["7c1"])  # fmt: skip


def history() -> dict[str, Any]:
    """A group that was opened wide a day later, and a table as ``get-resource-config-history``."""
    table = json.dumps({"tableName": "carts", "billingModeSummary": {"billingMode": "PROVISIONED"}})
    return {"configurationItems": [
        group_item("10.0.0.0/8", "0.0.0.0/0", at=LATER),
        group_item("10.0.0.0/8"),
        item("AWS::DynamoDB::Table", "carts", table, arn=arn("dynamodb", "table/carts"),
             accountId=ACCOUNT),
        item("AWS::Made::Up", "one", {"size": 3}, ARN=arn("made", "up/one")),
    ]}  # fmt: skip
