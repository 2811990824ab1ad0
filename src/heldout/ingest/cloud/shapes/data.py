"""Where data lies: databases, caches, queues, topics, buckets and tables."""

from __future__ import annotations

from heldout.ingest.cloud.forms import document, last, lower, number, switch, tags, words
from heldout.ingest.cloud.shape import Ref, Shape, Trait, both, refers

_TAGS = Trait("tags", "tags_all|tags", "tag_list|tags", tags)
_KEY = refers("encrypted_by", "KmsKey", "kms_key_id")

_DATABASE = (
    both("engine", "engine"), Trait("engine_version", "engine_version_actual|engine_version",
                                    "engine_version"),
    both("storage_encrypted", "storage_encrypted", switch),
    Trait("backup_retention_days", "backup_retention_period", "backup_retention_period", number),
    Trait("deletion_guard", "deletion_protection", "deletion_protection", switch),
    Trait("backup_window", "preferred_backup_window|backup_window", "preferred_backup_window"),
    Trait("maintenance_window", "preferred_maintenance_window|maintenance_window",
          "preferred_maintenance_window", lower),
    Trait("log_exports", "enabled_cloudwatch_logs_exports", "enabled_cloudwatch_logs_exports",
          words),
)  # fmt: skip
_FENCED = Ref("guarded_by", "SecurityGroup", "vpc_security_group_ids",
              "vpc_security_groups[].vpc_security_group_id")  # fmt: skip

SHAPES = (
    Shape(
        "DbInstance", "DbInstance", ("aws_db_instance", "aws_rds_cluster_instance"),
        ("AWS::RDS::DBInstance",), ("DBInstances",),
        id=("identifier|id", "db_instance_identifier"), arn=("arn", "db_instance_arn"),
        title=("identifier", "db_instance_identifier"), service="rds", path="db:{id}",
        traits=(
            *_DATABASE, Trait("instance_class", "instance_class", "db_instance_class"),
            both("multi_az", "multi_az", switch),
            Trait("allocated_storage_gib", "allocated_storage", "allocated_storage", number),
            Trait("max_storage_gib", "max_allocated_storage", "max_allocated_storage", number),
            both("storage_type", "storage_type"), both("iops", "iops", number),
            both("public", "publicly_accessible", switch),
            Trait("performance_insights", "performance_insights_enabled",
                  "performance_insights_enabled", switch),
            Trait("monitoring_interval_s", "monitoring_interval", "monitoring_interval", number),
            Trait("parameter_group", "parameter_group_name",
                  "db_parameter_groups.db_parameter_group_name"),
            Trait("port", "port", "endpoint.port", number),
            Trait("minor_upgrades", "auto_minor_version_upgrade", "auto_minor_version_upgrade",
                  switch),
            Trait("zone", "availability_zone", "availability_zone"),
            Trait("status", "", "db_instance_status"), _TAGS,
        ),
        refs=(
            _FENCED, _KEY,
            Ref("part_of", "DbSubnetGroup", "db_subnet_group_name",
                "db_subnet_group.db_subnet_group_name"),
            Ref("constrains", "DbParameterGroup", "parameter_group_name",
                "db_parameter_groups[].db_parameter_group_name", inverse=True),
            Ref("part_of", "DbCluster", "cluster_identifier", "db_cluster_identifier"),
            Ref("uses_identity", "IamRole", "monitoring_role_arn", "monitoring_role_arn"),
        ),
    ),
    Shape(
        "DbCluster", "DbInstance", ("aws_rds_cluster",), ("AWS::RDS::DBCluster",),
        ("DBClusters",), id=("cluster_identifier|id", "db_cluster_identifier"),
        arn=("arn", "db_cluster_arn"), title=("cluster_identifier", "db_cluster_identifier"),
        service="rds", path="cluster:{id}",
        traits=(
            *_DATABASE, both("engine_mode", "engine_mode"),
            Trait("port", "port", "port", number),
            Trait("parameter_group", "db_cluster_parameter_group_name",
                  "db_cluster_parameter_group"),
            Trait("iam_login", "iam_database_authentication_enabled",
                  "iam_database_authentication_enabled", switch),
            Trait("status", "", "status"), _TAGS,
        ),
        refs=(
            _FENCED, _KEY,
            Ref("part_of", "DbSubnetGroup", "db_subnet_group_name", "db_subnet_group"),
            Ref("constrains", "DbClusterParameterGroup", "db_cluster_parameter_group_name",
                "db_cluster_parameter_group", inverse=True),
        ),
    ),
    Shape(
        "DbParameterGroup", "DbParameterGroup", ("aws_db_parameter_group",),
        ("AWS::RDS::DBParameterGroup",), ("DBParameterGroups",),
        id=("name|id", "db_parameter_group_name"), arn=("arn", "db_parameter_group_arn"),
        title=("name", "db_parameter_group_name"), service="rds", path="pg:{id}",
        traits=(
            Trait("family", "family", "db_parameter_group_family"),
            both("description", "description"),
            Trait("parameters", "parameter", "",
                  lambda value: tags([{"key": one.get("name"), "value": one.get("value")}
                                      for one in value if isinstance(one, dict)])
                  if isinstance(value, list) else None), _TAGS,
        ),
    ),
    Shape(
        "DbClusterParameterGroup", "DbParameterGroup", ("aws_rds_cluster_parameter_group",),
        ("AWS::RDS::DBClusterParameterGroup",), ("DBClusterParameterGroups",),
        id=("name|id", "db_cluster_parameter_group_name"),
        arn=("arn", "db_cluster_parameter_group_arn"),
        title=("name", "db_cluster_parameter_group_name"), service="rds", path="cluster-pg:{id}",
        traits=(Trait("family", "family", "db_parameter_group_family"),
                both("description", "description"), _TAGS),
    ),
    Shape(
        "DbSubnetGroup", "CustomResource", ("aws_db_subnet_group",),
        ("AWS::RDS::DBSubnetGroup",), ("DBSubnetGroups",),
        id=("name|id", "db_subnet_group_name"), arn=("arn", "db_subnet_group_arn"),
        title=("name", "db_subnet_group_name"), service="rds", path="subgrp:{id}",
        traits=(
            Trait("description", "description", "db_subnet_group_description"),
            Trait("subnets", "subnet_ids", "subnets[].subnet_identifier", words), _TAGS,
        ),
        refs=(refers("part_of", "Vpc", "vpc_id"),),
    ),
    Shape(
        "DbOptionGroup", "CustomResource", ("aws_db_option_group",), ("AWS::RDS::OptionGroup",),
        ("OptionGroupsList",), id=("name|id", "option_group_name"),
        arn=("arn", "option_group_arn"), title=("name", "option_group_name"), service="rds",
        path="og:{id}",
        traits=(both("engine", "engine_name"), both("engine_version", "major_engine_version"),
                _TAGS),
    ),
    Shape(
        "Table", "DbInstance", ("aws_dynamodb_table",), ("AWS::DynamoDB::Table",), ("Table",),
        id=("name|id", "table_name"), arn=("arn", "table_arn"), title=("name", "table_name"),
        service="dynamodb", path="table/{id}",
        traits=(
            Trait("billing", "billing_mode", "billing_mode_summary.billing_mode", lower),
            Trait("deletion_guard", "deletion_protection_enabled", "deletion_protection_enabled",
                  switch),
            Trait("status", "", "table_status"), _TAGS,
        ),
    ),
    Shape(
        "Cache", "Cache", ("aws_elasticache_cluster",), ("AWS::ElastiCache::CacheCluster",),
        ("CacheClusters",), id=("cluster_id|id", "cache_cluster_id"),
        title=("cluster_id", "cache_cluster_id"), service="elasticache", path="cluster:{id}",
        traits=(
            both("engine", "engine"),
            Trait("engine_version", "engine_version_actual|engine_version", "engine_version"),
            Trait("instance_class", "node_type", "cache_node_type"),
            Trait("nodes", "num_cache_nodes", "num_cache_nodes", number),
            Trait("maintenance_window", "maintenance_window", "preferred_maintenance_window",
                  lower),
            Trait("parameter_group", "parameter_group_name",
                  "cache_parameter_group.cache_parameter_group_name"),
            Trait("snapshot_retention_days", "snapshot_retention_limit",
                  "snapshot_retention_limit", number),
            Trait("status", "", "cache_cluster_status"), _TAGS,
        ),
        refs=(
            Ref("guarded_by", "SecurityGroup", "security_group_ids",
                "security_groups[].security_group_id"),
            Ref("part_of", "ReplicationGroup", "replication_group_id", "replication_group_id"),
        ),
    ),
    Shape(
        "ReplicationGroup", "Cache", ("aws_elasticache_replication_group",),
        ("AWS::ElastiCache::ReplicationGroup",), ("ReplicationGroups",),
        id=("replication_group_id|id", "replication_group_id"),
        title=("replication_group_id", "replication_group_id"), service="elasticache",
        path="replicationgroup:{id}",
        traits=(
            Trait("description", "description|replication_group_description", "description"),
            Trait("instance_class", "node_type", "cache_node_type"),
            Trait("failover", "automatic_failover_enabled", "automatic_failover", switch),
            Trait("multi_az", "multi_az_enabled", "multi_az", switch),
            Trait("encrypted_at_rest", "at_rest_encryption_enabled", "at_rest_encryption_enabled",
                  switch),
            Trait("encrypted_in_transit", "transit_encryption_enabled",
                  "transit_encryption_enabled", switch),
            Trait("snapshot_retention_days", "snapshot_retention_limit",
                  "snapshot_retention_limit", number),
            Trait("status", "", "status"), _TAGS,
        ),
        refs=(
            Ref("guarded_by", "SecurityGroup", "security_group_ids", ""), _KEY,
        ),
    ),
    Shape(
        "Queue", "Queue", ("aws_sqs_queue",), ("AWS::SQS::Queue",), ("QueueUrls",),
        id=("name|url|id", "queue_url|queue_arn"), arn=("arn", "queue_arn"),
        title=("name", "queue_arn"), service="sqs", path="{id}", local=last,  # type: ignore[arg-type]
        traits=(
            Trait("visibility_timeout_s", "visibility_timeout_seconds", "visibility_timeout",
                  number),
            Trait("retention_s", "message_retention_seconds", "message_retention_period", number),
            Trait("delay_s", "delay_seconds", "delay_seconds", number),
            Trait("max_message_bytes", "max_message_size", "maximum_message_size", number),
            Trait("fifo", "fifo_queue", "fifo_queue", switch),
            Trait("policy", "policy", "policy", document),
            Trait("redrive", "redrive_policy", "redrive_policy"), _TAGS,
        ),
        refs=(Ref("encrypted_by", "KmsKey", "kms_master_key_id", "kms_master_key_id"),),
    ),
    Shape(
        "Topic", "Queue", ("aws_sns_topic",), ("AWS::SNS::Topic",), ("Topics",),
        id=("arn|id", "topic_arn"), arn=("arn", "topic_arn"), title=("name", "topic_arn"),
        service="sns", path="{id}",
        traits=(both("policy", "policy", document), _TAGS),
        refs=(Ref("encrypted_by", "KmsKey", "kms_master_key_id", "kms_master_key_id"),),
    ),
    Shape(
        "Bucket", "Bucket", ("aws_s3_bucket",), ("AWS::S3::Bucket",), ("Buckets",),
        id=("bucket|id", "name"), title=("bucket", "name"), service="s3", path="{id}",
        regional=False,
        traits=(
            Trait("versioning", "versioning.enabled",
                  "supplementary.bucket_versioning_configuration.status", switch),
            Trait("encryption", "server_side_encryption_configuration.rule"
                  ".apply_server_side_encryption_by_default.sse_algorithm",
                  "supplementary.server_side_encryption_configuration.rules"
                  ".apply_server_side_encryption_by_default.sse_algorithm"),
            Trait("public_access_blocked", "",
                  "supplementary.public_access_block_configuration.block_public_acls", switch),
            Trait("policy", "policy", "supplementary.bucket_policy.policy_text", document),
            Trait("created", "", "creation_date"), _TAGS,
        ),
    ),
    Shape(
        "FileSystem", "CustomResource", ("aws_efs_file_system",), ("AWS::EFS::FileSystem",),
        ("FileSystems",), id=("id", "file_system_id"), arn=("arn", "file_system_arn"),
        service="elasticfilesystem", path="file-system/{id}",
        traits=(both("encrypted", "encrypted", switch),
                both("throughput", "throughput_mode", lower), _TAGS),
        refs=(_KEY,),
    ),
)  # fmt: skip
