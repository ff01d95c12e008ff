#pragma once
// Takes out of a text what must not leave the site: passwords, tokens, keys. Pure.
#include <span>
#include <string>
#include <string_view>

namespace cupel::rma {

/// What stands behind a word such as password, token or secret and "=" or ":" becomes "***", and so
/// do private keys in PEM, credentials in URIs, Authorization headers, and each of `known`.
std::string without_secrets(std::string_view text, std::span<const std::string> known = {});

}  // namespace cupel::rma
