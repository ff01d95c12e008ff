#include "orchestrator/os/reported_key.h"

#include <array>

#include "inventory/boot.h"
#include "orchestrator/ssh/public_key.h"

namespace cupel::os {
namespace {

/// In the order of orchestrator/ssh/link.cpp.
constexpr std::array<std::string_view, 3> kTypes{"ssh-ed25519 ", "ecdsa-sha2-nistp256 ",
                                                 "ssh-rsa "};
constexpr std::size_t kMostKeys = 16;

}  // namespace

std::optional<std::string> reported_key(const json::object& body) {
  const auto* keys = body.if_contains("ssh_host_keys");
  if (keys == nullptr || !keys->is_array() || keys->get_array().size() > kMostKeys)
    return std::nullopt;
  for (const auto type : kTypes)
    for (const auto& key : keys->get_array()) {
      if (!key.is_string() || !key.get_string().starts_with(type)) continue;
      auto print = ssh::fingerprint_of(key.get_string());
      if (print) return *std::move(print);
    }
  return std::nullopt;
}

std::string reported_tpm(const json::object& body) {
  const auto* digest = body.if_contains("tpm_ek");
  if (digest == nullptr || !digest->is_string()) return {};
  const std::string_view text{digest->get_string()};
  return inventory::is_sha256(text) ? std::string{text} : std::string{};
}

}  // namespace cupel::os
