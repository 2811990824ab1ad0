"""What runs programs: instances, groups of them, clusters, functions and services."""

from __future__ import annotations

from heldout.ingest.cloud.forms import flag, last, lower, number, switch, tags, text, words
from heldout.ingest.cloud.shape import Ref, Shape, Trait, both, refers

_TAGS = Trait("tags", "tags_all|tags", "tags", tags)

SHAPES = (
    Shape(
        "VmInstance", "VmInstance", ("aws_instance", "aws_spot_instance_request"),
        ("AWS::EC2::Instance",), ("Instances",),
        id=("spot_instance_id|id", "instance_id"), service="ec2", path="instance/{id}",
        traits=(
            both("instance_type", "instance_type"), Trait("image", "ami", "image_id"),
            Trait("zone", "availability_zone", "placement.availability_zone"),
            Trait("monitoring", "monitoring", "monitoring.state", switch),
            Trait("key_name", "key_name", "key_name"),
            both("ebs_optimized", "ebs_optimized", switch),
            both("source_dest_check", "source_dest_check", switch),
            Trait("metadata_auth", "metadata_options.http_tokens",
                  "metadata_options.http_tokens", lower),
            Trait("metadata_hop_count", "metadata_options.http_put_response_hop_limit",
                  "metadata_options.http_put_response_hop_limit", number),
            Trait("termination_guard", "disable_api_termination", "", switch),
            Trait("private_address", "private_ip", "private_ip_address"),
            Trait("status", "", "state.name"), _TAGS,
        ),
        refs=(
            refers("part_of", "Subnet", "subnet_id"),
            Ref("guarded_by", "SecurityGroup", "vpc_security_group_ids",
                "security_groups[].group_id"),
            Ref("uses_identity", "InstanceProfile", "iam_instance_profile",
                "iam_instance_profile.arn"),
        ),
    ),
    Shape(
        "Volume", "CustomResource", ("aws_ebs_volume",), ("AWS::EC2::Volume",), ("Volumes",),
        id=("id", "volume_id"), service="ec2", path="volume/{id}",
        traits=(
            both("size_gib", "size", number), Trait("type", "type", "volume_type"),
            both("iops", "iops", number), both("encrypted", "encrypted", switch),
            both("zone", "availability_zone"), Trait("status", "", "state"), _TAGS,
        ),
        refs=(Ref("part_of", "VmInstance", "", "attachments[].instance_id"),),
    ),
    Shape(
        "LaunchTemplate", "LaunchTemplate", ("aws_launch_template",),
        ("AWS::EC2::LaunchTemplate",), ("LaunchTemplates", "LaunchTemplateVersions"),
        id=("id", "launch_template_id"), title=("name", "launch_template_name"), service="ec2",
        path="launch-template/{id}",
        traits=(
            Trait("latest_version", "latest_version", "latest_version_number", number),
            Trait("default_version", "default_version", "default_version_number", number),
            Trait("image", "image_id", "launch_template_data.image_id"),
            Trait("instance_type", "instance_type", "launch_template_data.instance_type"),
            Trait("volume_gib", "block_device_mappings.ebs.volume_size",
                  "launch_template_data.block_device_mappings.ebs.volume_size", number),
            Trait("metadata_hop_count", "metadata_options.http_put_response_hop_limit",
                  "launch_template_data.metadata_options.http_put_response_hop_limit", number),
            _TAGS,
        ),
    ),
    Shape(
        "AutoScalingGroup", "NodeGroup", ("aws_autoscaling_group",),
        ("AWS::AutoScaling::AutoScalingGroup",), ("AutoScalingGroups",),
        id=("name|id", "auto_scaling_group_name"), arn=("arn", "auto_scaling_group_arn"),
        title=("name", "auto_scaling_group_name"), service="autoscaling",
        local=lambda value: value.rsplit("autoScalingGroupName/", 1)[-1],
        traits=(
            both("min_size", "min_size", number), both("max_size", "max_size", number),
            both("desired_size", "desired_capacity", number),
            both("health_check", "health_check_type"),
            Trait("subnets", "vpc_zone_identifier", "vpc_zone_identifier",
                  lambda value: words(value.split(",") if isinstance(value, str) else value)),
            Trait("tags", "tag|tags", "tags", tags),
        ),
        refs=(
            Ref("routes_to", "TargetGroup", "target_group_arns", "target_group_arns",
                inverse=True),
            Ref("constrains", "LaunchTemplate",
                "launch_template.id|mixed_instances_policy.launch_template"
                ".launch_template_specification.launch_template_id",
                "launch_template.launch_template_id|mixed_instances_policy.launch_template"
                ".launch_template_specification.launch_template_id", inverse=True),
            Ref("controlled_by", "VmInstance", "", "instances[].instance_id", inverse=True),
        ),
    ),
    Shape(
        "EksCluster", "Cluster", ("aws_eks_cluster",), ("AWS::EKS::Cluster",), ("cluster",),
        id=("name|id", "name"), title=("name", "name"), service="eks", path="cluster/{id}",
        traits=(
            both("version", "version"),
            Trait("endpoint.public", "vpc_config.endpoint_public_access",
                  "resources_vpc_config.endpoint_public_access", switch),
            Trait("endpoint.private", "vpc_config.endpoint_private_access",
                  "resources_vpc_config.endpoint_private_access", switch),
            Trait("endpoint.public_cidrs", "vpc_config.public_access_cidrs",
                  "resources_vpc_config.public_access_cidrs", words),
            Trait("platform_version", "", "platform_version"), Trait("status", "", "status"),
            _TAGS,
        ),
        refs=(
            Ref("part_of", "Vpc", "vpc_config.vpc_id", "resources_vpc_config.vpc_id"),
            Ref("guarded_by", "SecurityGroup", "vpc_config.security_group_ids",
                "resources_vpc_config.security_group_ids"),
            Ref("uses_identity", "IamRole", "role_arn", "role_arn"),
            Ref("encrypted_by", "KmsKey", "encryption_config.provider.key_arn",
                "encryption_config.provider.key_arn"),
        ),
    ),
    Shape(
        "EksNodeGroup", "NodeGroup", ("aws_eks_node_group",), ("AWS::EKS::Nodegroup",),
        ("nodegroup",), id=("node_group_name", "nodegroup_name"), arn=("arn", "nodegroup_arn"),
        title=("node_group_name", "nodegroup_name"), within=("cluster_name", "cluster_name"),
        service="eks", local=lambda value: value.split("/")[2] if value.count("/") > 2 else value,
        traits=(
            both("version", "version"), both("release", "release_version"),
            both("image_type", "ami_type"),
            both("capacity", "capacity_type"), both("instance_types", "instance_types", words),
            both("disk_gib", "disk_size", number),
            both("min_size", "scaling_config.min_size", number),
            both("max_size", "scaling_config.max_size", number),
            both("desired_size", "scaling_config.desired_size", number),
            both("update.max_unavailable", "update_config.max_unavailable", number),
            both("labels", "labels", tags), Trait("status", "", "status"), _TAGS,
        ),
        refs=(
            Ref("runs_on", "EksCluster", "cluster_name", "cluster_name"),
            Ref("runs_on", "Subnet", "subnet_ids", "subnets"),
            Ref("uses_identity", "IamRole", "node_role_arn", "node_role"),
            Ref("constrains", "LaunchTemplate", "launch_template.id", "launch_template.id",
                inverse=True),
        ),
    ),
    Shape(
        "EksAddon", "CustomResource", ("aws_eks_addon",), ("AWS::EKS::Addon",), ("addon",),
        id=("addon_name", "addon_name"), arn=("arn", "addon_arn"),
        title=("addon_name", "addon_name"), within=("cluster_name", "cluster_name"),
        service="eks", local=lambda value: value.split("/")[2] if value.count("/") > 2 else value,
        traits=(both("version", "addon_version"), Trait("status", "", "status"), _TAGS),
        refs=(Ref("part_of", "EksCluster", "cluster_name", "cluster_name"),),
    ),
    Shape(
        "EcsCluster", "CustomResource", ("aws_ecs_cluster",), ("AWS::ECS::Cluster",),
        ("clusters",), id=("name", "cluster_name"), arn=("arn", "cluster_arn"),
        title=("name", "cluster_name"), service="ecs", path="cluster/{id}",
        traits=(Trait("status", "", "status"), _TAGS),
    ),
    Shape(
        "EcsService", "CustomResource", ("aws_ecs_service",), ("AWS::ECS::Service",),
        ("services",), id=("name", "service_name"), arn=("id", "service_arn"),
        title=("name", "service_name"), within=("cluster", "cluster_arn"), service="ecs",
        local=last,  # type: ignore[arg-type]
        traits=(
            Trait("replicas", "desired_count", "desired_count", number),
            Trait("running", "", "running_count", number),
            Trait("task_definition", "task_definition", "task_definition", last),
            both("launch_type", "launch_type"), Trait("status", "", "status"), _TAGS,
        ),
        refs=(Ref("part_of", "EcsCluster", "cluster", "cluster_arn"),),
    ),
    Shape(
        "Function", "Function", ("aws_lambda_function",), ("AWS::Lambda::Function",),
        ("Functions",), id=("function_name|id", "function_name"), arn=("arn", "function_arn"),
        title=("function_name", "function_name"), service="lambda", path="function:{id}",
        traits=(
            both("runtime", "runtime"), both("handler", "handler"),
            both("memory_mb", "memory_size", number), both("timeout_s", "timeout", number),
            Trait("code", "source_code_hash", "code_sha256"),
            Trait("package", "package_type", "package_type", lower),
            both("architectures", "architectures", words),
            Trait("environment", "environment.variables", "environment.variables", tags),
            Trait("layers", "layers", "layers[].arn", words),
            Trait("reserved_concurrency", "reserved_concurrent_executions",
                  "reserved_concurrent_executions", number),
            Trait("status", "", "state"), _TAGS,
        ),
        refs=(
            Ref("uses_identity", "IamRole", "role", "role"),
            Ref("guarded_by", "SecurityGroup", "vpc_config.security_group_ids",
                "vpc_config.security_group_ids"),
            Ref("runs_on", "Subnet", "vpc_config.subnet_ids", "vpc_config.subnet_ids"),
        ),
    ),
    Shape(
        "EventSourceMapping", "CustomResource", ("aws_lambda_event_source_mapping",),
        ("AWS::Lambda::EventSourceMapping",), ("EventSourceMappings",), id=("uuid|id", "uuid"),
        arn=("", "event_source_mapping_arn"), title=("uuid", "uuid"), service="lambda",
        path="event-source-mapping:{id}",
        traits=(
            both("batch_size", "batch_size", number),
            Trait("enabled", "enabled", "state", switch), both("source", "event_source_arn"),
        ),
        refs=(
            Ref("part_of", "Function", "function_arn|function_name", "function_arn"),
        ),
    ),
    Shape(
        "Repository", "CustomResource", ("aws_ecr_repository",), ("AWS::ECR::Repository",),
        ("repositories",), id=("name|id", "repository_name"), arn=("arn", "repository_arn"),
        title=("name", "repository_name"), service="ecr", path="repository/{id}",
        traits=(
            Trait("mutable_tags", "image_tag_mutability", "image_tag_mutability", flag("mutable")),
            Trait("scan_on_push", "image_scanning_configuration.scan_on_push",
                  "image_scanning_configuration.scan_on_push", switch), _TAGS,
        ),
    ),
    Shape(
        "HelmRelease", "HelmRelease", ("helm_release",), id=("id", ""), arn=("", ""),
        title=("name", ""), regional=False,
        traits=(
            Trait("namespace", "namespace", ""), Trait("chart", "chart", ""),
            Trait("chart_version", "version", ""), Trait("status", "status", ""),
        ),
    ),
    Shape(
        "KeyPair", "CustomResource", ("aws_key_pair",), ("AWS::EC2::KeyPair",), ("KeyPairs",),
        id=("key_name|id", "key_name"), title=("key_name", "key_name"), service="ec2",
        path="key-pair/{id}", traits=(Trait("fingerprint", "fingerprint", "key_fingerprint", text),
                                      _TAGS),
    ),
)  # fmt: skip
