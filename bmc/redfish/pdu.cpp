#include "bmc/redfish/pdu.h"

#include <fmt/format.h>

#include <cmath>

#include "base/text.h"
#include "bmc/redfish/machine.h"
#include "bmc/redfish/pages.h"
#include "bmc/redfish/write.h"
#include "inventory/model.h"

namespace cupel::bmc::redfish {
namespace {

constexpr std::size_t kMostPdus = 8;  // of one service: those that are chained to it
constexpr std::size_t kMostRead = 128;
constexpr std::size_t kMostNamed = 24;
constexpr std::string_view kCycle = "PowerCycle";

std::string_view last_of(std::string_view uri) {
  while (uri.ends_with('/')) uri.remove_suffix(1);
  return uri.substr(uri.rfind('/') + 1);
}

bool is_called(const json::value& body, std::string_view name) {
  for (const auto* label : {"Id", "UserLabel", "Name"})
    if (text_at(body, label) == name) return true;
  return false;
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
    auto done =
        co_await act_to_end(client_, outlet.target, json::value{{"PowerState", kCycle}}, deadline);
    if (!done) co_return named(attempt, std::move(done).error());
    co_return ok();
  }

  Task<void> log_out() override { return client_.log_out(); }

 private:
  Task<Result<Outlet>> outlet(std::string name, Deadline deadline) {
    if (members_.empty()) {
      CO_TRY(co_await find_members(deadline));
    }
    // Most are called by their Id, which their URI ends with.
    const auto known = std::ranges::find(members_, std::string_view{name}, last_of);
    if (known != members_.end()) {
      CO_TRY(const auto body, co_await client_.get(*known, deadline));
      co_return co_await read(std::move(name), *known, body, deadline);
    }
    std::size_t read_so_far = 0;
    for (const auto& uri : members_) {
      if (++read_so_far > kMostRead) break;
      CO_TRY(const auto body, co_await client_.get(uri, deadline));
      if (is_called(body, name)) co_return co_await read(std::move(name), uri, body, deadline);
    }
    co_return Error{Code::kNotFound, "there is none of that name; there are " + there_are()};
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
    CO_TRY(const auto pdus,
           co_await member_uris(client_, link_at(equipment, "RackPDUs"), kMostPdus, deadline));
    for (const auto& one : pdus) {
      CO_TRY(const auto pdu, co_await client_.get(one, deadline));
      for (const auto* collection : {"Outlets", "OutletGroups"}) {
        CO_TRY(auto found,
               co_await member_uris(client_, link_at(pdu, collection), kMostListed, deadline));
        std::ranges::move(found, std::back_inserter(members_));
      }
    }
    if (members_.empty()) co_return Error{Code::kUnsupported, "it tells of no outlets"};
    co_return ok();
  }

  std::string there_are() const {
    std::string names;
    std::size_t count = 0;
    for (const auto& uri : members_) {
      if (++count > kMostNamed) return names + ", ...";
      names += (names.empty() ? "" : ", ") + printable(shortened(last_of(uri), 40));
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
  std::vector<std::string> members_{};  // URIs of outlets and of groups
};

}  // namespace

std::unique_ptr<Pdu> open_pdu(Transport& transport, const inventory::Pdu& pdu,
                              SecretSource password, inventory::KnownKeys& known) {
  return std::make_unique<RedfishPdu>(transport, Peer{pdu.name, pdu.endpoint, pdu.trust, &known},
                                      pdu.user, std::move(password));
}

}  // namespace cupel::bmc::redfish
