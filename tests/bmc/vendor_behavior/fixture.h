#pragma once
// A virtual BMC of one vendor with that vendor's behavior, one client's process, and the table of
// what such a BMC can do. The virtual BMCs are the rehearsal's, which shares no code with the
// client; the table follows the captured machines, their makers' documentation and what users
// reported, and not what comes out.
#include "bmc/power.h"
#include "tests/bmc/fixture.h"
#include "tests/support/virtual_bmc.h"

namespace cupel::bmc {

constexpr Pace kQuick{.first = 5ms,
                      .longest = 20ms,
                      .before_asking_again = 20ms,
                      .until_bmc_is_gone = 1000ms,
                      .until_restart_shows = 200ms};

/// What one vendor's BMC can do.
struct Abilities {
  std::string_view vendor;
  std::vector<ResetType> resets;    // besides on, force_off and graceful_shutdown
  std::vector<BootTarget> lacks{};  // of the targets
  bool keeps_boot = true;           // an override that stays until it is taken back
  std::string_view uri_advice{};    // where it cannot tell the machine an URI; empty: it can
  std::string_view events = "polling";
  bool busy_in_post = false;    // the next boot cannot be set then
  bool has_tags = true;         // an unchanged audit is reported by 304
  bool bios_registry = true;    // it says which values an attribute may have
  bool names_passwords = true;  // refuses passwords of a few kinds of characters
};

inline const std::vector<Abilities>& all_abilities() {
  using enum ResetType;
  static const std::vector<Abilities> all{
      // No AC cycle: a DGX H100 has Off and On alone.
      {.vendor = "dgx", .resets = {force_restart}, .events = "SSE"},
      {.vendor = "dell",
       .resets = {force_restart, graceful_restart, power_cycle},
       .uri_advice = "HttpDev1Uri",
       .events = "SSE",
       .names_passwords = false},
      {.vendor = "hpe",
       .resets = {force_restart, graceful_restart, ac_cycle},
       .uri_advice = "UrlBootFile",
       .busy_in_post = true,
       .names_passwords = false},
      {.vendor = "hpe-ilo5",
       .resets = {force_restart, graceful_restart, ac_cycle},
       .uri_advice = "UrlBootFile",
       .busy_in_post = true,
       .names_passwords = false},
      // ForceRestart is there, and may hang an SR675 V3. What an XCC keeps is the boot order.
      {.vendor = "lenovo",
       .resets = {graceful_restart, ac_cycle},
       .lacks = {BootTarget::uefi_http},
       .keeps_boot = false,
       .uri_advice = "no boot target",
       .events = "SSE"},
      {.vendor = "supermicro",
       .resets = {force_restart, graceful_restart, power_cycle},
       .uri_advice = "let DHCP tell it"},
      {.vendor = "ami", .resets = {force_restart}, .uri_advice = "let DHCP tell it"},
      {.vendor = "openbmc",
       .resets = {force_restart, graceful_restart, power_cycle, ac_cycle},
       .lacks = {BootTarget::uefi_http},
       .uri_advice = "no boot target",
       .events = "SSE",
       .has_tags = false,
       .bios_registry = false}};
  return all;
}

inline void PrintTo(const Abilities& abilities, std::ostream* out) { *out << abilities.vendor; }

class OfEachVendor : public ::testing::TestWithParam<Abilities> {
 protected:
  std::unique_ptr<Bmc> open(redfish::ReadCache* cache = nullptr) {
    return redfish::open(
        *transport_, "a01-n01",
        {.endpoint = server().endpoint(), .user = server().user(), .password = {}, .trust = {}},
        password_from(password), keys, {}, cache);
  }
  /// Runs one verb, and logs out whatever became of it.
  template <class Verb>
  auto with_bmc(Verb verb) {
    const auto bmc = open();
    auto done = run(verb(*bmc));
    log_out(*bmc);
    return done;
  }
  template <class T>
  T run(Task<T> task) {
    return run_to_end(io, std::move(task));
  }
  void log_out(Bmc& bmc) {
    run([](Bmc& leaving) -> Task<bool> {
      co_await leaving.log_out();
      co_return true;
    }(bmc));
  }
  /// As after a restart of ourselves: new connections, new sessions, nothing remembered but the
  /// certificate.
  void start_over() { transport_ = std::make_unique<redfish::Transport>(io.get_executor()); }

  static Deadline soon() { return Deadline::in(60s); }
  const Abilities& abilities() const { return GetParam(); }
  bool is(std::string_view vendor) const { return abilities().vendor == vendor; }

  /// Which BMC it is to be; before anything is asked of it.
  void become(test::VirtualBmc::Options options) {
    options.bmc.vendor = abilities().vendor;
    server_ = std::make_unique<test::VirtualBmc>(std::move(options));
    password = server_->password();
  }
  test::VirtualBmc& server() {
    if (!server_) become({});
    return *server_;
  }
  rehearsal::Power power() {
    return server().on([](rehearsal::Machine& machine, auto&) { return machine.power(); });
  }
  int boots() {
    return server().on([](rehearsal::Machine& machine, auto&) { return machine.boots(); });
  }
  std::string booted_from() {
    return server().on([](rehearsal::Machine& machine, auto&) { return machine.booted_from(); });
  }
  std::string booted_image() {
    return server().on([](rehearsal::Machine& machine, auto&) { return machine.booted_image(); });
  }
  bool boots_reach(int requested) {
    return server().wait_until([=](auto& machine) { return machine.boots() >= requested; });
  }

  asio::io_context io;
  std::unique_ptr<redfish::Transport> transport_ =
      std::make_unique<redfish::Transport>(io.get_executor());
  RememberedKeys keys;
  std::string password{};

 private:
  std::unique_ptr<test::VirtualBmc> server_{};
};

inline std::string name_of_vendor(const ::testing::TestParamInfo<Abilities>& info) {
  std::string name{info.param.vendor};
  std::erase(name, '-');
  return name;
}

}  // namespace cupel::bmc
