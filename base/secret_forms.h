#pragma once
// Takes out of a text what must not be kept in records nor leave the site: passwords, tokens,
// keys. Pure.
#include <span>
#include <string>
#include <string_view>

namespace cupel {

/// The value after a name such as password, BMC_PW, token or Kennwort becomes "***", also in JSON
/// within a text of JSON, in YAML and in XML, and so do private keys in PEM, credentials in URIs
/// and in the usual options of ipmitool, curl, sshpass and the like (also in lists of arguments),
/// hashes of passwords, Authorization and Cookie headers, tokens that are known by how they begin,
/// and each of `known` that has 4 bytes or more. A secret in a form of its own is not known for
/// one. Takes time in proportion to the text.
std::string without_secrets(std::string_view text, std::span<const std::string> known = {});

/// Each of `known`, of whatever length, becomes "***" wherever it stands.
std::string without_known(std::string text, std::span<const std::string> known);

}  // namespace cupel
