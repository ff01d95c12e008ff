#include "bmc/redfish/redfish.h"

#include "bmc/redfish/boot.h"
#include "bmc/redfish/events.h"
#include "bmc/redfish/inventory.h"
#include "bmc/redfish/reset.h"
#include "bmc/redfish/uri.h"

namespace cupel::bmc::redfish {
namespace {

/// How often a BMC that tells nothing by itself is looked at.
constexpr std::chrono::seconds kLookAgain{15};

/// The whole firmware inventory at once: a DGX H100 takes two to three minutes for it.
bool is_slow(std::string_view uri) { return normal(uri).ends_with("/FirmwareInventory"); }

class RedfishBmc final : public Bmc {
 public:
  RedfishBmc(Transport& transport, Peer peer, std::string user, SecretSource password,
             Expected expected)
      : node_{peer.node},
        whereabouts_{transport, std::move(peer), user, password, std::move(expected)},
        client_{transport, whereabouts_.peer(), user, password} {
    client_.at(whereabouts_.moments(client_));
    client_.slow_where(&is_slow);
  }

  Task<Result<Told<PowerState>>> power_state(Deadline deadline) override {
    auto system = co_await the_system(deadline);
    if (!system) co_return named("power state", std::move(system).assume_error());
    co_return Told<PowerState>{power_of(system.assume_value().body)};
  }

  Task<Result<Protocol>> reset(ResetType type, Deadline deadline) override {
    const std::string attempt = "reset " + std::string{to_string(type)};
    auto system = co_await the_system(deadline);
    if (!system) co_return named(attempt, std::move(system).assume_error());
    auto done = co_await reset_system(client_, std::move(system).assume_value(), type, deadline);
    if (!done) co_return named(attempt, std::move(done).assume_error());
    co_return Protocol::redfish;
  }

  Task<Result<std::vector<ResetType>>> allowed_resets(Deadline deadline) override {
    auto system = co_await the_system(deadline);
    if (!system) co_return named("allowed resets", std::move(system).assume_error());
    auto words = co_await allowed_words(client_, std::move(system.assume_value().body), deadline);
    if (!words) co_return named("allowed resets", std::move(words).assume_error());
    co_return known_resets(words.assume_value());
  }

  Task<Result<Protocol>> set_boot(BootOverride wanted, Deadline deadline) override {
    const std::string attempt =
        "boot " + std::string{to_string(wanted.target)} + (wanted.once ? " once" : "");
    auto system = co_await the_system(deadline);
    if (!system) co_return named(attempt, std::move(system).assume_error());
    auto done = co_await redfish::set_boot(client_, std::move(system).assume_value(), wanted.target,
                                           deadline);
    if (!done) co_return named(attempt, std::move(done).assume_error());
    co_return Protocol::redfish;
  }

  Task<Result<Told<BootOverride>>> boot_override(Deadline deadline) override {
    auto system = co_await the_system(deadline);
    if (!system) co_return named("boot override", std::move(system).assume_error());
    auto seen = co_await read_boot(client_, std::move(system).assume_value(), deadline);
    if (!seen) co_return named("boot override", std::move(seen).assume_error());
    co_return Told<BootOverride>{std::move(seen).assume_value()};
  }

  Task<Result<Identity>> identity(Deadline deadline) override {
    Observed seen;
    Survey survey{client_, deadline, seen};
    auto machine = co_await find_machine(survey);
    if (!machine) co_return named("identity", std::move(machine).assume_error());
    system_ = machine.assume_value().system.uri;
    Identity identity = co_await identify(survey, machine.assume_value());
    if (survey.stopped()) co_return named("identity", *survey.stopped());
    co_return identity;
  }

  Task<Result<Observed>> observe(Deadline deadline) override {
    const int before = client_.requests();
    auto seen = co_await read_inventory(client_, deadline);
    if (!seen) co_return named("inventory", std::move(seen).assume_error());
    seen.assume_value().requests = client_.requests() - before;
    co_return seen;
  }

  Task<Result<std::unique_ptr<Events>>> events(Deadline deadline) override {
    auto events = co_await subscribe(client_, *this, kLookAgain, deadline);
    if (!events) co_return named("events", std::move(events).assume_error());
    co_return events;
  }

  Task<void> log_out() override { return client_.log_out(); }

 private:
  /// The System that is the machine, as it is now. Which one that is, is found out once.
  Task<Result<Document>> the_system(Deadline deadline) {
    if (!system_.empty()) {
      CO_TRY(json::value body, co_await client_.get(system_, deadline));
      co_return Document{system_, std::move(body)};
    }
    Observed seen;
    Survey survey{client_, deadline, seen};
    CO_TRY(Machine machine, co_await find_machine(survey));
    system_ = machine.system.uri;
    co_return std::move(machine.system);
  }

  /// Errors from below the client do not name the node, those of the client do.
  Error named(std::string_view attempt, Error error) const {
    const std::string prefix = node_ + ": ";
    if (error.what.starts_with(prefix)) error.what.erase(0, prefix.size());
    return std::move(error).within(prefix + std::string{attempt});
  }

  std::string node_;
  Whereabouts whereabouts_;
  Client client_;
  std::string system_{};
};

}  // namespace

std::unique_ptr<Bmc> open(Transport& transport, std::string node, inventory::BmcAccess access,
                          SecretSource password, inventory::KnownKeys& known, Expected expected) {
  Peer peer{.node = std::move(node),
            .endpoint = std::move(access.endpoint),
            .trust = std::move(access.trust),
            .known = &known};
  return std::make_unique<RedfishBmc>(transport, std::move(peer), std::move(access.user),
                                      std::move(password), std::move(expected));
}

}  // namespace cupel::bmc::redfish
