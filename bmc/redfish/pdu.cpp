#include "bmc/redfish/pdu.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "base/text.h"
#include "bmc/redfish/machine.h"
#include "bmc/redfish/pages.h"
#include "bmc/redfish/write.h"
#include "inventory/model.h"

namespace cupel::bmc::redfish {
namespace {

constexpr std::size_t kMostPdus = 64;  // of one service and kind: those that are chained to it
constexpr std::size_t kMostRead = 512;
constexpr std::size_t kMostNamed = 24;
constexpr std::string_view kCycle = "PowerCycle";

std::string_view last_of(std::string_view uri) {
  while (uri.ends_with('/')) uri.remove_suffix(1);
  return uri.substr(uri.rfind('/') + 1);
}

/// Whatever distributes power has the resource PowerDistribution, with Outlets and OutletGroups.
/// Source: DSP0268, PowerEquipment, PowerDistribution.
constexpr std::array<std::string_view, 5> kEquipment{"RackPDUs", "FloorPDUs", "TransferSwitches",
                                                     "PowerShelves", "Switchgear"};

/// An outlet, or a group.
struct Member {
  std::string uri;
  bool was_read = false;
  std::vector<std::string> labels{};  // once it was read

  bool is_called(std::string_view name) const {
    return std::ranges::find(labels, name) != labels.end();
  }
  /// By the end of its URI: "A1", "2/Outlets/A1".
  bool ends_with(std::string_view name) const {
    std::string_view path{uri};
    while (path.ends_with('/')) path.remove_suffix(1);
    return path.size() > name.size() && path.ends_with(name) &&
           path[path.size() - name.size() - 1] == '/';
  }
};

std::vector<std::string> labels_of(const json::value& body) {
  std::vector<std::string> labels;
  for (const auto* label : {"Id", "UserLabel", "Name"})
    if (auto text = text_at(body, label)) labels.push_back(*std::move(text));
  return labels;
}

class RedfishPdu final : public Pdu {
 public:
  RedfishPdu(Transport& transport, Peer peer, std::string user, SecretSource password)
      : name_{peer.node},
        client_{transport, std::move(peer), std::move(user), std::move(password)} {}

  Task<Result<std::vector<Outlet>>> outlets(std::vector<std::string> names,
                                            Deadline deadline) override {
    std::vector<Outlet> all;
    for (const auto& name : names) {
      auto found = co_await outlet(name, deadline);
      if (!found) co_return named("outlet " + name, std::move(found).error());
      all.push_back(*std::move(found));
    }
    co_return all;
  }

  Task<Result<void>> cycle(Outlet outlet, Deadline deadline) override {
    const auto attempt = "cycle outlet " + outlet.name;
    if (outlet.target.empty() || !outlet.off_for)
      co_return named(attempt, {Code::kUnsupported,
                                "it does not cycle by itself (no PowerCycle, or no "
                                "PowerCycleDelaySeconds): it would stay off after a crash"});
    auto sent =
        co_await send_act(client_, outlet.target, json::value{{"PowerState", kCycle}}, deadline);
    if (!sent) co_return named(attempt, std::move(sent).error());
    if (!sent->lost) co_return ok();
    auto began = co_await is_not_on(outlet.source, deadline);
    if (began && *began) co_return ok();
    if (!began && began.error().code == Code::kCancelled)
      co_return named(attempt, std::move(began).error());
    sent->lost->what += began ? "; the PDU reports the outlet on: see when its load started"
                              : "; asked for its state: " + began.error().what;
    co_return named(attempt, *std::move(sent->lost));
  }

  Task<void> log_out() override { return client_.log_out(); }

 private:
  Task<Result<Outlet>> outlet(std::string name, Deadline deadline) {
    if (members_.empty()) {
      auto listed_all = co_await find_members(deadline);
      if (!listed_all) members_.clear();  // a part of them is never taken for all
      CO_TRY(std::move(listed_all));
    }
    // Most are called by their Id, which their URI ends with.
    auto found = those_that([&](const Member& one) { return one.ends_with(name); });
    if (found.empty()) {
      CO_TRY(co_await read_labels(deadline));
      found = those_that([&](const Member& one) { return one.is_called(name); });
    }
    if (found.empty()) co_return none_of_that_name();
    if (found.size() > 1)
      co_return Error{Code::kConflict,
                      "there are several of that name: write as much of its URI as tells it from "
                      "the others: " +
                          listed(found)};
    CO_TRY(const auto body, co_await client_.get(found.front(), deadline));
    co_return co_await read(std::move(name), found.front(), body, deadline);
  }

  /// URIs.
  template <class Is>
  std::vector<std::string> those_that(Is is) const {
    std::vector<std::string> found;
    for (const auto& one : members_)
      if (is(one)) found.push_back(one.uri);
    return found;
  }

  Task<Result<void>> read_labels(Deadline deadline) {
    if (members_.size() > kMostRead)
      co_return Error{Code::kUnsupported,
                      fmt::format("it has {} outlets, and labels are looked for among {} at most: "
                                  "name it by its Id",
                                  members_.size(), kMostRead)};
    for (auto& one : members_) {
      if (one.was_read) continue;
      CO_TRY(const auto body, co_await client_.get(one.uri, deadline));
      one.labels = labels_of(body);
      one.was_read = true;
    }
    co_return ok();
  }

  /// Whether the outlet shows that it is being cycled.
  Task<Result<bool>> is_not_on(std::string uri, Deadline deadline) {
    for (int read = 0; read < kReadsBack; ++read) {
      if (read > 0) {
        CO_TRY(co_await pause_for(kBetweenReads));
      }
      CO_TRY(const auto body, co_await client_.get(uri, deadline));
      const auto power = power_of(body);
      if (power != PowerState::on && power != PowerState::unknown) co_return true;
    }
    co_return false;
  }

  Error none_of_that_name() const {
    std::vector<std::string> ids;
    for (const auto& one : members_) ids.emplace_back(last_of(one.uri));
    return {Code::kNotFound, "there is none of that name; there are " + listed(ids)};
  }

  Task<Result<Outlet>> read(std::string name, std::string uri, json::value body,
                            Deadline deadline) {
    Outlet found{.name = std::move(name), .source = std::move(uri), .power = power_of(body)};
    auto action = action_at(body, "Actions/#Outlet.PowerControl");
    if (!action) action = action_at(body, "Actions/#OutletGroup.PowerControl");
    if (!action) co_return found;
    CO_TRY(const auto words, co_await allowed_words(client_, *action, "PowerState", deadline));
    // One that lists nothing may know it: the standard lets that be left out.
    if (!words.empty() && std::ranges::find(words, kCycle) == words.end()) co_return found;
    found.target = action->target;
    constexpr double kLongest = 3600;
    const auto delay = number_at(body, "PowerCycleDelaySeconds");
    if (delay && std::isfinite(*delay) && *delay >= 0 && *delay <= kLongest)
      found.off_for = std::chrono::seconds{static_cast<long>(*delay)};
    co_return found;
  }

  Task<Result<void>> find_members(Deadline deadline) {
    CO_TRY(const auto root, co_await client_.get("/redfish/v1", deadline));
    auto uri = link_at(root, "PowerEquipment");
    if (uri.empty())
      co_return Error{Code::kUnsupported, "its service root has no PowerEquipment: is it a PDU?"};
    CO_TRY(const auto equipment, co_await client_.get(uri, deadline));
    std::string seen;
    for (const auto kind : kEquipment) {
      const auto collection = link_at(equipment, kind);
      if (collection.empty()) continue;
      seen += (seen.empty() ? "" : ", ") + std::string{kind};
      auto pdus = co_await member_uris(client_, collection, kMostPdus, deadline);
      if (!pdus && pdus.error().code == Code::kNotFound) continue;  // linked, and none is there
      if (!pdus) co_return std::move(pdus).error();
      for (const auto& one : *pdus) {
        CO_TRY(co_await find_members_of(one, deadline));
      }
    }
    if (members_.empty())
      co_return Error{Code::kUnsupported,
                      "it tells of no outlets" + (seen.empty() ? "" : " below " + seen)};
    co_return ok();
  }

  Task<Result<void>> find_members_of(std::string uri, Deadline deadline) {
    const auto pdu = co_await client_.get(uri, deadline);
    // Of a chain, and taken away: there is no outlet of it.
    if (!pdu && pdu.error().code == Code::kNotFound) co_return ok();
    if (!pdu) co_return pdu.error();
    for (const auto* collection : {"Outlets", "OutletGroups"}) {
      CO_TRY(auto found,
             co_await member_uris(client_, link_at(*pdu, collection), kMostListed, deadline));
      for (auto& one : found) members_.push_back({.uri = std::move(one)});
    }
    co_return ok();
  }

  static std::string listed(const std::vector<std::string>& texts) {
    std::string names;
    std::size_t count = 0;
    for (const auto& text : texts) {
      if (++count > kMostNamed) return names + ", ...";
      names += (names.empty() ? "" : ", ") + printable(shortened(text, 120));
    }
    return names;
  }

  Error named(std::string_view attempt, Error error) const {
    const auto prefix = "PDU " + name_ + ": ";
    if (error.what.starts_with(name_ + ": ")) error.what.erase(0, name_.size() + 2);
    return std::move(error).within(prefix + printable(attempt));
  }

  std::string name_;
  Client client_;
  std::vector<Member> members_{};
};

}  // namespace

std::unique_ptr<Pdu> open_pdu(Transport& transport, const inventory::Pdu& pdu,
                              SecretSource password, inventory::KnownKeys& known) {
  return std::make_unique<RedfishPdu>(transport, Peer{pdu.name, pdu.endpoint, pdu.trust, &known},
                                      pdu.user, std::move(password));
}

}  // namespace cupel::bmc::redfish
