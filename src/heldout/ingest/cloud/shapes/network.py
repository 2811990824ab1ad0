"""Networks: VPCs, subnets, firewalls, routes, gateways and addresses."""

from __future__ import annotations

from functools import partial

from heldout.ingest.cloud.forms import lower, switch, tags, text, words
from heldout.ingest.cloud.rules import entries, routes, rules
from heldout.ingest.cloud.shape import Ref, Shape, Trait, both, refers

_TAGS = Trait("tags", "tags_all|tags", "tags", tags)
_IN_VPC = refers("part_of", "Vpc", "vpc_id")

SHAPES = (
    Shape(
        "Vpc", "Vpc", ("aws_vpc", "aws_default_vpc"), ("AWS::EC2::VPC",), ("Vpcs",),
        id=("id", "vpc_id"), service="ec2", path="vpc/{id}",
        traits=(
            both("cidr", "cidr_block"),
            Trait("tenancy", "instance_tenancy", "instance_tenancy"),
            Trait("dns_hostnames", "enable_dns_hostnames", "", switch),
            Trait("dns_support", "enable_dns_support", "", switch),
            Trait("dhcp_options", "dhcp_options_id", "dhcp_options_id"),
            Trait("status", "", "state"), _TAGS,
        ),
    ),
    Shape(
        "Subnet", "Subnet", ("aws_subnet", "aws_default_subnet"), ("AWS::EC2::Subnet",),
        ("Subnets",), id=("id", "subnet_id"), arn=("arn", "subnet_arn"), service="ec2",
        path="subnet/{id}",
        traits=(
            both("cidr", "cidr_block"), both("zone", "availability_zone"),
            both("public_addresses", "map_public_ip_on_launch", switch),
            Trait("auto_assign_ipv6", "assign_ipv6_address_on_creation",
                  "assign_ipv6_address_on_creation", switch),
            Trait("free_addresses", "", "available_ip_address_count"),
            Trait("status", "", "state"), _TAGS,
        ),
        refs=(_IN_VPC,),
    ),
    Shape(
        "SecurityGroup", "SecurityGroup", ("aws_security_group", "aws_default_security_group"),
        ("AWS::EC2::SecurityGroup",), ("SecurityGroups",), id=("id", "group_id"),
        arn=("arn", "security_group_arn"), title=("name", "group_name"), service="ec2",
        path="security-group/{id}",
        traits=(
            both("description", "description"),
            Trait("ingress", "ingress", "ip_permissions", rules),
            Trait("egress", "egress", "ip_permissions_egress", rules), _TAGS,
        ),
        refs=(_IN_VPC,),
    ),
    Shape(
        "RouteTable", "RouteTable", ("aws_route_table", "aws_default_route_table"),
        ("AWS::EC2::RouteTable",), ("RouteTables",), id=("id", "route_table_id"), service="ec2",
        path="route-table/{id}",
        traits=(both("routes", "route", routes)._replace(running="routes"), _TAGS),
        refs=(_IN_VPC, Ref("routes_to", "Subnet", "", "associations[].subnet_id")),
    ),
    Shape(
        "NetworkAcl", "NetworkAcl", ("aws_network_acl", "aws_default_network_acl"),
        ("AWS::EC2::NetworkAcl",), ("NetworkAcls",), id=("id", "network_acl_id"), service="ec2",
        path="network-acl/{id}",
        traits=(
            Trait("ingress", "ingress", "entries", partial(entries, egress=False)),
            Trait("egress", "egress", "entries", partial(entries, egress=True)), _TAGS,
        ),
        refs=(
            _IN_VPC,
            Ref("guarded_by", "Subnet", "subnet_ids", "associations[].subnet_id", inverse=True),
        ),
    ),
    Shape(
        "InternetGateway", "CustomResource", ("aws_internet_gateway",),
        ("AWS::EC2::InternetGateway",), ("InternetGateways",), id=("id", "internet_gateway_id"),
        service="ec2", path="internet-gateway/{id}", traits=(_TAGS,),
        refs=(Ref("part_of", "Vpc", "vpc_id", "attachments[].vpc_id"),),
    ),
    Shape(
        "NatGateway", "CustomResource", ("aws_nat_gateway",), ("AWS::EC2::NatGateway",),
        ("NatGateways",), id=("id", "nat_gateway_id"), service="ec2", path="natgateway/{id}",
        traits=(
            both("connectivity", "connectivity_type"), Trait("status", "", "state"), _TAGS,
        ),
        refs=(refers("part_of", "Subnet", "subnet_id"),),
    ),
    Shape(
        "ElasticIp", "CustomResource", ("aws_eip",), ("AWS::EC2::EIP",), ("Addresses",),
        id=("allocation_id|id", "allocation_id"), title=("public_ip", "public_ip"),
        service="ec2", path="elastic-ip/{id}",
        traits=(both("address", "public_ip"), both("domain", "domain"), _TAGS),
        refs=(Ref("part_of", "VmInstance", "instance", "instance_id"),),
    ),
    Shape(
        "NetworkInterface", "CustomResource", ("aws_network_interface",),
        ("AWS::EC2::NetworkInterface",), ("NetworkInterfaces",),
        id=("id", "network_interface_id"), service="ec2", path="network-interface/{id}",
        traits=(
            both("description", "description"), both("interface_type", "interface_type", lower),
            Trait("status", "", "status"),
            Trait("tags", "tags_all|tags", "tag_set|tags", tags),
        ),
        refs=(
            refers("part_of", "Subnet", "subnet_id"),
            Ref("part_of", "VmInstance", "", "attachment.instance_id"),
        ),
    ),
    Shape(
        "VpcPeering", "CustomResource", ("aws_vpc_peering_connection",),
        ("AWS::EC2::VPCPeeringConnection",), ("VpcPeeringConnections",),
        id=("id", "vpc_peering_connection_id"), service="ec2", path="vpc-peering-connection/{id}",
        traits=(Trait("status", "accept_status", "status.code", lower), _TAGS),
        refs=(Ref("part_of", "Vpc", "vpc_id", "requester_vpc_info.vpc_id"),),
    ),
    Shape(
        "VpcEndpoint", "CustomResource", ("aws_vpc_endpoint",), ("AWS::EC2::VPCEndpoint",),
        ("VpcEndpoints",), id=("id", "vpc_endpoint_id"), service="ec2", path="vpc-endpoint/{id}",
        traits=(
            both("service_name", "service_name"),
            both("endpoint_type", "vpc_endpoint_type", lower),
            both("private_dns", "private_dns_enabled", switch),
            both("subnets", "subnet_ids", words), _TAGS,
        ),
        refs=(_IN_VPC,),
    ),
    Shape(
        "TransitGateway", "CustomResource", ("aws_ec2_transit_gateway",),
        ("AWS::EC2::TransitGateway",), ("TransitGateways",), id=("id", "transit_gateway_id"),
        arn=("arn", "transit_gateway_arn"), service="ec2", path="transit-gateway/{id}",
        traits=(both("description", "description"), _TAGS),
    ),
    Shape(
        "FlowLog", "CustomResource", ("aws_flow_log",), ("AWS::EC2::FlowLog",), ("FlowLogs",),
        id=("id", "flow_log_id"), service="ec2", path="vpc-flow-log/{id}",
        traits=(both("traffic", "traffic_type", lower), Trait("status", "", "flow_log_status"),
                _TAGS),
        refs=(Ref("part_of", "Vpc", "vpc_id", "resource_id"),),
    ),
    Shape(
        "PrefixList", "CustomResource", ("aws_ec2_managed_prefix_list",),
        ("AWS::EC2::PrefixList",), ("PrefixLists",), id=("id", "prefix_list_id"),
        arn=("arn", "prefix_list_arn"), title=("name", "prefix_list_name"), service="ec2",
        path="prefix-list/{id}",
        traits=(Trait("owner", "owner_id", "owner_id", text), _TAGS),
    ),
)  # fmt: skip
