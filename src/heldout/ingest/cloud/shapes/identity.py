"""Identities: roles, policies, profiles, users, groups and keys."""

from __future__ import annotations

from typing import Any

from heldout.ingest.cloud.forms import (
    current_document,
    document,
    last,
    lower,
    number,
    switch,
    tags,
    words,
)
from heldout.ingest.cloud.shape import Ref, Shape, Trait, both


def _name(value: str) -> str:
    """An IAM name without its path."""
    return value.rsplit("/", 1)[-1]


def _names(value: Any) -> list[str] | None:
    """The names of policies that are given by ARN."""
    found = words(value)
    return None if found is None else sorted({_name(one) for one in found})


_TAGS = Trait("tags", "tags_all|tags", "tags", tags)

SHAPES = (
    Shape(
        "IamRole", "IamRole", ("aws_iam_role",), ("AWS::IAM::Role",), ("Roles", "RoleDetailList"),
        id=("name|id", "role_name"), title=("name", "role_name"), service="iam",
        path="role/{id}", regional=False, local=_name,
        traits=(
            both("path", "path"), both("description", "description"),
            Trait("max_session_seconds", "max_session_duration", "max_session_duration", number),
            Trait("trust", "assume_role_policy", "assume_role_policy_document", document),
            Trait("boundary", "permissions_boundary",
                  "permissions_boundary.permissions_boundary_arn"),
            Trait("policies", "managed_policy_arns",
                  "attached_managed_policies[].policy_arn", _names),
            Trait("inline_policies", "inline_policy[].name", "role_policy_list[].policy_name",
                  words),
            Trait("last_used", "", "role_last_used.last_used_date"), _TAGS,
        ),
        refs=(
            Ref("grants", "IamPolicy", "managed_policy_arns",
                "attached_managed_policies[].policy_arn", inverse=True, told=False),
        ),
    ),
    Shape(
        "IamPolicy", "IamPolicy", ("aws_iam_policy",), ("AWS::IAM::Policy",), ("Policies",),
        id=("arn|id", "arn"), title=("name", "policy_name"), service="iam", path="policy/{id}",
        regional=False, local=_name,
        traits=(
            both("path", "path"), both("description", "description"),
            Trait("document", "policy", "policy_version_list", current_document), _TAGS,
        ),
    ),
    Shape(
        "InstanceProfile", "InstanceProfile", ("aws_iam_instance_profile",),
        ("AWS::IAM::InstanceProfile",), ("InstanceProfiles",),
        id=("name|id", "instance_profile_name"), title=("name", "instance_profile_name"),
        service="iam", path="instance-profile/{id}", regional=False, local=_name,
        traits=(both("path", "path"), _TAGS),
        refs=(Ref("assumes", "IamRole", "role", "roles[].role_name"),),
    ),
    Shape(
        "IamUser", "CustomResource", ("aws_iam_user",), ("AWS::IAM::User",),
        ("Users", "UserDetailList"), id=("name|id", "user_name"), title=("name", "user_name"),
        service="iam", path="user/{id}", regional=False, local=_name,
        traits=(
            both("path", "path"),
            Trait("policies", "", "attached_managed_policies[].policy_arn", _names), _TAGS,
        ),
    ),
    Shape(
        "IamGroup", "CustomResource", ("aws_iam_group",), ("AWS::IAM::Group",),
        ("Groups", "GroupDetailList"), id=("name|id", "group_name"),
        title=("name", "group_name"), service="iam", path="group/{id}", regional=False,
        local=_name,
        traits=(
            both("path", "path"),
            Trait("policies", "", "attached_managed_policies[].policy_arn", _names),
        ),
    ),
    Shape(
        "AccessKey", "CustomResource", ("aws_iam_access_key",), (), ("AccessKeyMetadata",),
        id=("id", "access_key_id"), title=("user", "user_name"), regional=False,
        traits=(both("status", "status", lower), Trait("user", "user", "user_name")),
        refs=(Ref("part_of", "IamUser", "user", "user_name"),),
    ),
    Shape(
        "OidcProvider", "CustomResource", ("aws_iam_openid_connect_provider",),
        ("AWS::IAM::OIDCProvider",), ("OpenIDConnectProviderList",), id=("arn", "arn"),
        title=("url", "arn"), service="iam", path="oidc-provider/{id}", regional=False,
        traits=(Trait("audiences", "client_id_list", "client_id_list", words), _TAGS),
    ),
    Shape(
        "KmsKey", "KmsKey", ("aws_kms_key",), ("AWS::KMS::Key",), ("KeyMetadata", "Keys"),
        id=("key_id|id", "key_id"), arn=("arn", "arn|key_arn"),
        title=("description", "description"),
        service="kms", path="key/{id}",
        traits=(
            both("description", "description"),
            Trait("rotation", "enable_key_rotation", "key_rotation_status", switch),
            Trait("enabled", "is_enabled", "enabled", switch),
            Trait("deletion_window_days", "deletion_window_in_days", "", number),
            Trait("status", "", "key_state"), _TAGS,
        ),
    ),
    Shape(
        "KmsAlias", "CustomResource", ("aws_kms_alias",), ("AWS::KMS::Alias",), ("Aliases",),
        id=("name|id", "alias_name"), arn=("arn", "alias_arn"), title=("name", "alias_name"),
        service="kms", path="{id}",
        traits=(Trait("key", "target_key_id", "target_key_id", last),),
        refs=(Ref("part_of", "KmsKey", "target_key_id", "target_key_id"),),
    ),
    Shape(
        "SecretsManagerSecret", "Secret", ("aws_secretsmanager_secret",),
        ("AWS::SecretsManager::Secret",), ("SecretList",), id=("arn|id", "arn"),
        title=("name", "name"), service="secretsmanager", path="secret:{id}",
        traits=(
            both("description", "description"),
            Trait("recovery.window_days", "recovery_window_in_days", "", number),
            Trait("rotation.enabled", "", "rotation_enabled", switch), _TAGS,
        ),
        refs=(Ref("encrypted_by", "KmsKey", "kms_key_id", "kms_key_id"),),
    ),
    Shape(
        "SsmParameter", "CustomResource", ("aws_ssm_parameter",), ("AWS::SSM::Parameter",),
        ("Parameters",), id=("name|id", "name"), title=("name", "name"), service="ssm",
        path="parameter{id}",
        traits=(both("type", "type"), both("tier", "tier", lower), _TAGS),
    ),
)  # fmt: skip
