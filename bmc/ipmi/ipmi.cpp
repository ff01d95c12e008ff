#include "bmc/ipmi/ipmi.h"

#include "base/wall_clock.h"
#include "bmc/ipmi/accounts.h"
#include "bmc/ipmi/chassis.h"
#include "bmc/ipmi/commands.h"
#include "bmc/ipmi/console.h"
#include "bmc/ipmi/event_log.h"
#include "bmc/ipmi/identity.h"
#include "bmc/ipmi/recognise.h"
#include "bmc/ipmi/sensors.h"
#include "inventory/access.h"

namespace cupel::bmc::ipmi {
namespace {

Task<Result<void>> reset_bmc(Client& client, Deadline deadline) {
  CO_TRY(co_await client.ask(kColdReset, {}, deadline));
  co_return ok();
}

class IpmiBmc final : public Bmc {
 public:
  IpmiBmc(Transport& transport, std::string node, inventory::IpmiAccess access, std::string user,
          SecretSource password, std::optional<ExpectedIdentity> people)
      : transport_{transport},
        node_{std::move(node)},
        access_{std::move(access)},
        user_{std::move(user)},
        password_{std::move(password)},
        people_{std::move(people)},
        client_{transport_, node_, access_, user_, password_} {
    read_by(power.state, read_power);
    change_by(power.reset, control);
    power.allowed_resets.bind(this, &IpmiBmc::allowed_resets);
    change_by(boot.set, write_boot);
    read_by(boot.read, read_boot);
    facts.identity.bind(this, &IpmiBmc::read_identity);
    facts.observe.bind(this, &IpmiBmc::observe);
    update.versions.bind(this, &IpmiBmc::versions);
    sensors.read.bind(this, &IpmiBmc::readings);
    change_by(locator.set, identify_chassis);
    read_by(locator.read, read_identify);
    log.read.bind(this, &IpmiBmc::event_log);
    change_by(log.clear, clear_log);
    read_by(accounts.read, read_accounts);
    change_by(accounts.change_password, write_password);
    read_by(manager.services, read_services);
    change_by(manager.enable_service, write_service);
    change_by(manager.reset, reset_bmc);
    manager.clock.bind(this, &IpmiBmc::clock);
    manager.set_clock.bind(this, &IpmiBmc::set_clock);
    console.ways.bind(this, &IpmiBmc::console_ways);
    console.open.bind(this, &IpmiBmc::open_own_console);
  }

  Task<void> log_out() override { co_await client_.log_out(); }

 private:
  /// `verb` is done by `how`, which takes the client, the verb's arguments and the deadline.
  template <class T, class... Args, class How>
  void read_by(Verb<T(Args...)>& verb, How how) {
    verb = [this, how](Args... args, Deadline deadline) {
      return done<T>(false, how, deadline, std::move(args)...);
    };
  }
  /// The same of a change, which is made only of a BMC that is ours.
  template <class T, class... Args, class How>
  void change_by(Verb<T(Args...)>& verb, How how) {
    verb = [this, how](Args... args, Deadline deadline) {
      return done<T>(true, how, deadline, std::move(args)...);
    };
  }
  template <class T, class How, class... Args>
  Task<Result<T>> done(bool changes, How how, Deadline deadline, Args... args) {
    if (changes) {
      CO_TRY(co_await is_ours(deadline));
    }
    co_return answered<T>(co_await how(client_, std::move(args)..., deadline), Protocol::ipmi);
  }

  // No command tells; these are what Chassis Control has words for.
  Task<Result<std::vector<ResetType>>> allowed_resets(Deadline) {
    co_return std::vector{ResetType::on, ResetType::force_off, ResetType::graceful_shutdown,
                          ResetType::force_restart, ResetType::power_cycle};
  }

  Task<Result<Identity>> read_identity(Deadline deadline) {
    CO_TRY(Found found, co_await identify(client_, deadline));
    co_return std::move(found.identity);
  }

  Task<Result<Observed>> observe(Deadline deadline) {
    const int requests = client_.requests();
    const auto bytes = client_.bytes();
    auto records = co_await repository(deadline);
    if (!records && ends_everything(records.error().code)) co_return std::move(records).error();
    const Records known = records ? *records : without(records.error());
    CO_TRY(Observed observed, co_await take_stock(client_, *known, deadline));
    observed.requests = client_.requests() - requests;
    observed.bytes = client_.bytes() - bytes;
    co_return observed;
  }

  Task<Result<Sourced<std::vector<inventory::Part>>>> versions(Deadline deadline) {
    CO_TRY(const Bytes answer, co_await client_.ask(kGetDeviceId, {}, deadline));
    CO_TRY(const DeviceId device, within(node_, parse_device_id(answer)));
    inventory::Part bmc{.kind = inventory::PartKind::firmware, .name = "bmc"};
    bmc.firmware = device.firmware;
    bmc.source = "ipmi:Get Device ID";
    co_return Sourced<std::vector<inventory::Part>>{{std::move(bmc)}, Protocol::ipmi};
  }

  Task<Result<Sensors>> readings(Deadline deadline) {
    CO_TRY(const Records known, co_await repository(deadline));
    co_return co_await read_sensors(client_, *known, deadline);
  }

  Task<Result<EventLog>> event_log(std::optional<Seconds> since, std::size_t most,
                                   Deadline deadline) {
    auto records = co_await repository(deadline);
    if (!records && ends_everything(records.error().code)) co_return std::move(records).error();
    // Without the records, sensors go by their type and number.
    const Records known = records ? *records : without(records.error());
    co_return co_await read_log(client_, *known, since, most, deadline);
  }

  Task<Result<BmcClock>> clock(Deadline deadline) {
    CO_TRY(const SelClock reported, co_await read_clock(client_, deadline));
    const auto now = seconds_now();
    BmcClock clock{.time = Seconds{std::chrono::seconds{reported.seconds} - reported.east}};
    clock.ahead = clock.time - now;
    clock.reported = std::to_string(reported.seconds);
    if (reported.east.count() != 0)
      clock.reported += ", " + std::to_string(reported.east.count()) + " min east";
    clock.by = Protocol::ipmi;
    co_return clock;
  }

  Task<Result<Protocol>> set_clock(Seconds time, Deadline deadline) {
    CO_TRY(co_await is_ours(deadline));
    CO_TRY(const SelClock now, co_await read_clock(client_, deadline));
    const auto local = (time + now.east).time_since_epoch().count();
    if (local < 0 || local > 0xffffffffLL)
      co_return Error{Code::kInvalid, node_ + ": Set SEL Time: it ends in 2106"};
    Bytes data;
    put32(data, static_cast<std::uint32_t>(local));
    CO_TRY(co_await client_.ask(kSetSelTime, std::move(data), deadline));
    co_return Protocol::ipmi;
  }

  Task<Result<std::vector<ConsoleWay>>> console_ways(Deadline deadline) {
    auto enabled = co_await sol_enabled(client_, deadline);
    if (!enabled && enabled.error().code == Code::kUnsupported) co_return std::vector<ConsoleWay>{};
    CO_TRY(const bool yes, std::move(enabled));
    co_return std::vector{ConsoleWay{.kind = ConsoleWay::Kind::sol, .enabled = yes}};
  }

  // A session of its own: ours may end while somebody watches.
  Task<Result<std::unique_ptr<Console>>> open_own_console(Deadline deadline) {
    auto own = std::make_unique<Client>(transport_, node_, access_, user_, password_);
    // Whoever sits at it may type a password: not to a stranger.
    if (people_) {
      auto known = co_await recognise(*own, *people_, deadline);
      if (!known) {
        co_await own->log_out();
        co_return std::move(known).error();
      }
    }
    co_return co_await open_console(std::move(own), deadline);
  }

  static bool ends_everything(Code code) {
    return is_transient(code) || code == Code::kCancelled || code == Code::kRefused ||
           code == Code::kInvalid;
  }

  /// Before each change: who this is, once in a session.
  Task<Result<void>> is_ours(Deadline deadline) {
    if (!people_ || recognised_ == client_.session_number()) co_return ok();
    CO_TRY(co_await recognise(client_, *people_, deadline));
    recognised_ = client_.session_number();
    co_return ok();
  }

  // Whoever reads them keeps them, whatever is read anew meanwhile.
  using Records = std::shared_ptr<const Repository>;

  static Records without(const Error& why) {
    return std::make_shared<Repository>(
        Repository{.unknown = {{"sensors and FRUs", "ipmi:sdr", why.what}}});
  }

  /// Reads the records anew where they have changed since.
  Task<Result<Records>> repository(Deadline deadline) {
    const auto info = co_await client_.ask(kGetRepository, {}, deadline);
    if (!info && ends_everything(info.error().code)) co_return info.error();
    // Version, count, free space, and when something was added and erased last: 33.9.
    const Bytes stamp = info ? *info : Bytes{};
    if (records_ && info && stamp == stamp_) co_return records_;
    CO_TRY(Repository read, co_await read_repository(client_, deadline));
    records_ = std::make_shared<Repository>(std::move(read));
    stamp_ = stamp;
    co_return records_;
  }

  Transport& transport_;
  std::string node_;
  inventory::IpmiAccess access_;
  std::string user_;
  SecretSource password_;
  std::optional<ExpectedIdentity> people_;
  int recognised_ = 0;  // the session in which it was
  Client client_;
  Records records_{};
  Bytes stamp_{};
};

}  // namespace

std::unique_ptr<Bmc> open(Transport& transport, std::string node, inventory::IpmiAccess access,
                          std::string user, SecretSource password,
                          std::optional<ExpectedIdentity> people) {
  return std::make_unique<IpmiBmc>(transport, std::move(node), std::move(access), std::move(user),
                                   std::move(password), std::move(people));
}

}  // namespace cupel::bmc::ipmi
