#pragma once
// The service of one virtual BMC of a vendor, without sockets, on a loop of the test's own.
#include "rehearsal/bmc/reading.h"
#include "rehearsal/bmc/service.h"
#include "tests/rehearsal/bench.h"

namespace cupel::rehearsal {

inline constexpr const char* kRoot = "/redfish/v1";

/// Somebody logged in to the BMC of a machine that is off.
class BmcBench : public RackLoop {
 public:
  explicit BmcBench(BmcSpec spec, std::vector<Fault> faults = {}, double speed = 1000)
      : RackLoop{speed},
        machine{io.get_executor(), clock, dgx(), "v01-n01", 1, BootTimes{}, std::move(faults)},
        service{machine, {"admin", "Open-sesame-1234"}, std::move(spec)} {}
  explicit BmcBench(const std::string& vendor) : BmcBench{BmcSpec{.vendor = vendor}} {}
  ~BmcBench() {
    machine.stop();
    service.stop();
    io.restart();
    io.run();
  }

  /// With a session, opened when it is first needed, and If-Match: * where something is changed.
  HttpResponse ask(std::string method, std::string target, std::string body = {},
                   std::map<std::string, std::string> headers = {}) {
    if (token.empty()) log_in(password);
    headers["x-auth-token"] = token;
    if (method == "PATCH") headers.try_emplace("if-match", "*");
    return service.handle({std::move(method), std::move(target), headers, std::move(body)});
  }
  HttpResponse log_in(const std::string& with) {
    const auto body = json::object{{"UserName", "admin"}, {"Password", with}};
    auto response = service.handle({"POST", std::string{kSessions}, {}, json::serialize(body)});
    if (response.status == 201) token = response.headers["X-Auth-Token"];
    return response;
  }
  /// As text, whatever it is; "" where it is not there.
  std::string seen(const std::string& target, std::string_view path) {
    const auto body = parse_json(ask("GET", target).body);
    const auto* found = body ? find(*body, path) : nullptr;
    if (!found) return {};
    return found->is_string() ? std::string{found->as_string()} : json::serialize(*found);
  }
  bool boot() {
    machine.press(machine.power() == Power::on ? Reset::power_cycle : Reset::on);
    const auto before = machine.boots();
    return run_until([&] { return machine.boots() > before; });
  }
  BmcView view() const { return service.view(); }

  static constexpr std::string_view kSessions = "/redfish/v1/SessionService/Sessions";
  Machine machine;
  BmcService service;
  std::string token{};
  std::string password = "Open-sesame-1234";
};

inline std::vector<std::string> vendors() {
  std::vector<std::string> names;
  for (const auto& row : all_vendor_behaviors()) names.emplace_back(row.vendor);
  return names;
}

inline std::string test_name(const ::testing::TestParamInfo<std::string>& info) {
  auto name = info.param;
  std::erase(name, '-');
  return name;
}

}  // namespace cupel::rehearsal
