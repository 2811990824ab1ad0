"""The way in: load balancers, target groups, names, certificates, gateways, logs and alarms."""

from __future__ import annotations

from heldout.ingest.cloud.forms import host, lower, number, record_values, switch, tags, words
from heldout.ingest.cloud.shape import Ref, Shape, Trait, both, refers

_TAGS = Trait("tags", "tags_all|tags", "tags", tags)
_IN_VPC = refers("part_of", "Vpc", "vpc_id")


def _record(value: str) -> str:
    return value.lower()


SHAPES = (
    Shape(
        "LoadBalancer", "LoadBalancer", ("aws_lb", "aws_alb"),
        ("AWS::ElasticLoadBalancingV2::LoadBalancer",), ("LoadBalancers",),
        id=("arn_suffix|arn|id", "load_balancer_arn"), arn=("arn", "load_balancer_arn"),
        title=("name", "load_balancer_name"), service="elasticloadbalancing",
        path="loadbalancer/{id}",
        traits=(
            Trait("scheme", "internal", "scheme", lambda value: {
                "true": "internal", "false": "internet-facing"}.get(
                    str(value).lower(), str(value)) if value is not None else None),
            Trait("type", "load_balancer_type", "type"),
            both("address_type", "ip_address_type"),
            Trait("idle_timeout_s", "idle_timeout", "", number),
            Trait("access_logs", "access_logs.enabled", "", switch),
            Trait("deletion_guard", "enable_deletion_protection", "", switch),
            Trait("host", "dns_name", "dns_name", host),
            Trait("subnets", "subnets", "availability_zones[].subnet_id", words),
            Trait("status", "", "state.code"), _TAGS,
        ),
        refs=(
            _IN_VPC,
            Ref("guarded_by", "SecurityGroup", "security_groups", "security_groups"),
        ),
    ),
    Shape(
        "ClassicLoadBalancer", "LoadBalancer", ("aws_elb",),
        ("AWS::ElasticLoadBalancing::LoadBalancer",), ("LoadBalancerDescriptions",),
        id=("name|id", "load_balancer_name"), title=("name", "load_balancer_name"),
        service="elasticloadbalancing", path="loadbalancer/{id}",
        traits=(
            Trait("idle_timeout_s", "idle_timeout", "", number),
            Trait("host", "dns_name", "dns_name", host),
            both("subnets", "subnets", words), _TAGS,
        ),
        refs=(
            Ref("part_of", "Vpc", "", "vpc_id"),
            Ref("guarded_by", "SecurityGroup", "security_groups", "security_groups"),
            Ref("routes_to", "VmInstance", "instances", "instances[].instance_id"),
        ),
    ),
    Shape(
        "TargetGroup", "CustomResource", ("aws_lb_target_group", "aws_alb_target_group"),
        ("AWS::ElasticLoadBalancingV2::TargetGroup",), ("TargetGroups",),
        id=("arn_suffix|arn|id", "target_group_arn"), arn=("arn", "target_group_arn"),
        title=("name", "target_group_name"), service="elasticloadbalancing",
        path="targetgroup/{id}",
        traits=(
            both("port", "port", number), both("protocol", "protocol"),
            both("target_type", "target_type"),
            Trait("health_check.path", "health_check.path", "health_check_path"),
            Trait("health_check.port", "health_check.port", "health_check_port"),
            Trait("health_check.interval_s", "health_check.interval",
                  "health_check_interval_seconds", number),
            Trait("health_check.timeout_s", "health_check.timeout",
                  "health_check_timeout_seconds", number),
            Trait("health_check.matcher", "health_check.matcher", "matcher.http_code"),
            Trait("health_check.healthy_after", "health_check.healthy_threshold",
                  "healthy_threshold_count", number),
            Trait("health_check.unhealthy_after", "health_check.unhealthy_threshold",
                  "unhealthy_threshold_count", number),
            Trait("deregistration_delay_s", "deregistration_delay", "", number), _TAGS,
        ),
        refs=(
            _IN_VPC,
            Ref("routes_to", "LoadBalancer", "load_balancer_arns", "load_balancer_arns",
                inverse=True),
        ),
    ),
    Shape(
        "HostedZone", "CustomResource", ("aws_route53_zone",), ("AWS::Route53::HostedZone",),
        ("HostedZones",), id=("zone_id|id", "id"), title=("name", "name"), service="route53",
        path="hostedzone/{id}", regional=False, local=lambda value: value.rsplit("/", 1)[-1],
        traits=(
            Trait("domain", "name", "name", host),
            Trait("private", "", "config.private_zone", switch),
            Trait("records", "", "resource_record_set_count", number), _TAGS,
        ),
    ),
    Shape(
        "DnsRecord", "DnsRecord", ("aws_route53_record",), (), ("ResourceRecordSets",),
        id=("_record", "_record"), title=("_name", "_name"), within=("zone_id", "_zone"),
        regional=False, local=_record,
        traits=(
            both("type", "type"), Trait("ttl_s", "ttl", "ttl", number),
            Trait("values", "records", "resource_records[].value", record_values),
            Trait("weight", "weighted_routing_policy.weight", "weight", number),
            Trait("alias", "alias.name", "alias_target.dns_name", host),
        ),
        refs=(Ref("part_of", "HostedZone", "zone_id", "_zone"),),
    ),
    Shape(
        "Certificate", "Certificate", ("aws_acm_certificate",),
        ("AWS::ACM::Certificate",), ("CertificateSummaryList", "Certificate"),
        id=("arn|id", "certificate_arn"), arn=("arn", "certificate_arn"),
        title=("domain_name", "domain_name"), service="acm", path="certificate/{id}",
        traits=(
            Trait("domain", "domain_name", "domain_name", host),
            Trait("names", "subject_alternative_names",
                  "subject_alternative_names|subject_alternative_name_summaries", words),
            Trait("key_algorithm", "key_algorithm", "key_algorithm",
                  lambda value: str(value).replace("-", "_") if value else None),
            Trait("type", "type", "type"), Trait("not_after", "", "not_after"),
            Trait("renewal", "", "renewal_eligibility"), Trait("status", "", "status"), _TAGS,
        ),
    ),
    Shape(
        "RestApi", "ApiGateway", ("aws_api_gateway_rest_api",), ("AWS::ApiGateway::RestApi",),
        ("rest_apis",), id=("id", "id"), title=("name", "name"), service="apigateway",
        path="/restapis/{id}", traits=(both("description", "description"), _TAGS),
    ),
    Shape(
        "HttpApi", "ApiGateway", ("aws_apigatewayv2_api",), ("AWS::ApiGatewayV2::Api",),
        ("Apis",), id=("id", "api_id"), title=("name", "name"), service="apigateway",
        path="/apis/{id}",
        traits=(Trait("protocol", "protocol_type", "protocol_type", lower), _TAGS),
    ),
    Shape(
        "Distribution", "CustomResource", ("aws_cloudfront_distribution",),
        ("AWS::CloudFront::Distribution",), ("distributions",), id=("id", "id"),
        title=("domain_name", "domain_name"), service="cloudfront", path="distribution/{id}",
        regional=False,
        traits=(
            both("enabled", "enabled", switch), Trait("status", "", "status"),
            Trait("host", "domain_name", "domain_name", host), _TAGS,
        ),
    ),
    Shape(
        "LogGroup", "CustomResource", ("aws_cloudwatch_log_group",), ("AWS::Logs::LogGroup",),
        ("logGroups",), id=("name|id", "log_group_name"), arn=("arn", "log_group_arn"),
        title=("name", "log_group_name"), service="logs", path="log-group:{id}",
        local=lambda value: value.removesuffix(":*"),
        traits=(Trait("retention_days", "retention_in_days", "retention_in_days", number), _TAGS),
    ),
    Shape(
        "MetricAlarm", "AlertRule", ("aws_cloudwatch_metric_alarm",),
        ("AWS::CloudWatch::Alarm",), ("MetricAlarms",), id=("alarm_name|id", "alarm_name"),
        arn=("arn", "alarm_arn"), title=("alarm_name", "alarm_name"), service="cloudwatch",
        path="alarm:{id}",
        traits=(
            both("metric", "metric_name"), both("namespace_of_metric", "namespace"),
            both("threshold", "threshold", number),
            both("periods", "evaluation_periods", number),
            Trait("period_s", "period", "period", number),
            Trait("comparison", "comparison_operator", "comparison_operator"),
            Trait("actions_on", "actions_enabled", "actions_enabled", switch),
            Trait("status", "", "state_value"), _TAGS,
        ),
    ),
    Shape(
        "EventRule", "CustomResource", ("aws_cloudwatch_event_rule",), ("AWS::Events::Rule",),
        ("Rules",), id=("name|id", "name"), arn=("arn", "arn"), title=("name", "name"),
        service="events", path="rule/{id}",
        traits=(both("schedule", "schedule_expression"),
                Trait("enabled", "state|is_enabled", "state", switch), _TAGS),
    ),
)  # fmt: skip
