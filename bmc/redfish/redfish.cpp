#include "bmc/redfish/redfish.h"

#include "bmc/redfish/boot.h"
#include "bmc/redfish/event_log.h"
#include "bmc/redfish/inventory.h"
#include "bmc/redfish/reset.h"
#include "bmc/redfish/sensors.h"

namespace cupel::bmc::redfish {
namespace {

class RedfishBmc final : public Bmc {
 public:
  RedfishBmc(Transport& transport, Peer peer, std::string user, SecretSource password,
             ReadCache* cache)
      : node_{peer.node},
        client_{transport, std::move(peer), std::move(user), std::move(password)},
        cache_{cache} {}

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
    const Identity identity = co_await identify(survey, machine.assume_value());
    if (survey.stopped()) co_return named("identity", *survey.stopped());
    co_return identity;
  }

  Task<Result<Observed>> observe(Deadline deadline) override {
    const int before = client_.requests();
    AuditFetch fetch{client_, cache_};
    auto seen = co_await read_inventory(fetch, deadline);
    if (!seen) co_return named("inventory", std::move(seen).assume_error());
    seen.assume_value().requests = client_.requests() - before;
    seen.assume_value().bytes = fetch.bytes();
    seen.assume_value().unchanged = fetch.unchanged();
    co_return seen;
  }

  Task<Result<Told<std::vector<inventory::Part>>>> firmware(Deadline deadline) override {
    auto parts = co_await read_versions(client_, deadline);
    if (!parts) co_return named("firmware", std::move(parts).assume_error());
    co_return Told<std::vector<inventory::Part>>{std::move(parts).assume_value()};
  }

  Task<Result<Sensors>> sensors(Deadline deadline) override {
    auto found = co_await read_sensors(client_, deadline);
    if (!found) co_return named("sensors", std::move(found).assume_error());
    co_return found;
  }

  Task<Result<EventLog>> event_log(std::optional<Seconds> since, std::size_t most,
                                   Deadline deadline) override {
    auto log = co_await read_event_log(client_, since, most, deadline);
    if (!log) co_return named("event log", std::move(log).assume_error());
    co_return log;
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
  Client client_;
  ReadCache* cache_;
  std::string system_{};
};

}  // namespace

std::unique_ptr<Bmc> open(Transport& transport, std::string node, inventory::BmcAccess access,
                          SecretSource password, inventory::KnownKeys& known, ReadCache* cache) {
  Peer peer{.node = std::move(node),
            .endpoint = std::move(access.endpoint),
            .trust = std::move(access.trust),
            .known = &known};
  return std::make_unique<RedfishBmc>(transport, std::move(peer), std::move(access.user),
                                      std::move(password), cache);
}

}  // namespace cupel::bmc::redfish
