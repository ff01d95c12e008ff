#include "orchestrator/netboot/dnsmasq.h"

#include <signal.h>

#include <filesystem>

#include "base/file.h"
#include "base/process.h"
#include "base/text.h"

namespace cupel::netboot {
namespace {

constexpr unsigned kOursAlone = 0600;
constexpr std::chrono::hours kForGood{24 * 365};
constexpr std::size_t kMostPid = 32, kMostWords = 1024;

}  // namespace

std::string Dnsmasq::path(std::string_view name) const {
  return conf_.state_folder + "/" + std::string{name};
}

Result<void> Dnsmasq::write(const std::vector<DhcpNode>& nodes) const {
  TRY(const auto hosts, dhcp_hosts(nodes));
  TRY(const auto options, dhcp_options(nodes));
  TRY(const auto conf, dnsmasq_conf(conf_, nodes));
  TRY(write_file(path(kHostsFile), hosts, kOursAlone));
  TRY(write_file(path(kOptionsFile), options, kOursAlone));
  return write_file(path("dhcp-conf"), conf, kOursAlone);
}

Result<Dnsmasq> Dnsmasq::prepare(DhcpConf conf, const std::vector<DhcpNode>& nodes) {
  namespace fs = std::filesystem;
  std::error_code failure;
  fs::create_directories(conf.state_folder, failure);
  if (!failure) fs::permissions(conf.state_folder, fs::perms::owner_all, failure);
  if (failure) return Error{Code::kStorage, conf.state_folder + ": " + failure.message()};
  Dnsmasq dnsmasq{std::move(conf)};
  TRY(dnsmasq.write(nodes));
  return dnsmasq;
}

Task<Result<void>> Dnsmasq::run() {
  ProcessRequest request{.argv = {"dnsmasq", "--keep-in-foreground", "--user=root",
                                  "--conf-file=" + path("dhcp-conf"),
                                  "--pid-file=" + path("dhcp-pid")}};
  CO_TRY(const auto outcome, co_await run_process(std::move(request), Deadline::in(kForGood)));
  co_return Error{Code::kFailed,
                  "dnsmasq ended: " + printable(shortened(trimmed(outcome.error), kMostWords)) +
                      " (its log: " + path("dhcp-log") + ")"};
}

Result<void> Dnsmasq::update(const std::vector<DhcpNode>& nodes) {
  TRY(write(nodes));
  if (conf_.mode == inventory::DhcpMode::proxy)
    return Error{Code::kUnsupported, "a DHCP proxy reads its configuration at its start alone"};
  TRY(const auto text, read_file(path("dhcp-pid"), kMostPid));
  const auto pid = number<pid_t>(trimmed(text));
  // It reads its hosts and options again. Source: dnsmasq(8), NOTES.
  if (!pid || *pid <= 1 || ::kill(*pid, SIGHUP) != 0)
    return Error{Code::kFailed, "dnsmasq is not running"};
  return ok();
}

}  // namespace cupel::netboot
