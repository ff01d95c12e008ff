#pragma once
// What a job's script gives cupel-node: its order, as the stage reads it.
#include <algorithm>

#include "base/json.h"
#include "burnin/group_stage.h"

namespace cupel::burnin {

/// Empty where the script starts no stage of cupel-node.
inline json::object order_in(std::string_view script) {
  constexpr std::string_view kBegins = "printf '%s\\n' '", kEnds = "' | cupel-node stage ";
  const auto at = script.find(kBegins), end = script.rfind(kEnds);
  if (at == script.npos || end == script.npos) return {};
  auto order = parse_json(script.substr(at + kBegins.size(), end - at - kBegins.size()));
  return order && order->is_object() ? std::move(*order).as_object() : json::object{};
}

/// Of a member that waits for its leader's value: with this one.
inline json::object order_of(const MemberJob& job, const std::string& shared = "") {
  return order_in(job.with_shared.script ? job.with_shared.script(shared) : job.script);
}

/// To whom a flow of fabric-pairs goes on that rail; empty: none goes.
inline std::string peer_of(const json::object& order, int rail) {
  const auto* clients = order.if_contains("clients");
  if (clients == nullptr) return {};
  for (const auto& each : clients->as_array())
    if (each.at("rail") == rail) return std::string{each.at("to").as_string()};
  return {};
}

/// Whether any flow goes there.
inline bool sends_to(const json::object& order, const std::string& address) {
  const auto* clients = order.if_contains("clients");
  return clients != nullptr && std::ranges::any_of(clients->as_array(), [&](const auto& each) {
           return each.at("to") == json::string(address);
         });
}

inline bool serves(const json::object& order, int rail) {
  const auto* servers = order.if_contains("servers");
  return servers != nullptr && std::ranges::any_of(servers->as_array(), [&](const auto& each) {
           return each.at("rail") == rail;
         });
}

}  // namespace cupel::burnin
