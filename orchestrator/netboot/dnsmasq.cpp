#include "orchestrator/netboot/dnsmasq.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>

#include "base/file.h"
#include "base/paths.h"
#include "base/process.h"
#include "base/text.h"

namespace cupel::netboot {
namespace {

namespace fs = std::filesystem;

constexpr const char* kProgram = "/usr/sbin/dnsmasq";  // not in everybody's PATH
constexpr unsigned kOursAlone = 0600;
/// dnsmasq serves TFTP as another user, who may pass and read, and not list.
constexpr mode_t kPassable = 0711, kReadable = 0755;
constexpr std::chrono::hours kForGood{24 * 365};
constexpr std::size_t kLongestLine = 4096;

/// Runs "$@", and ends it when standard input ends: dnsmasq gives up root, and with that the kernel
/// forgets a signal that it was to get when its parent dies (prctl(2), PR_SET_PDEATHSIG).
constexpr const char* kUntilInputEnds =
    "exec 3<&0\n"
    "\"$@\" < /dev/null 3<&- &\n"
    "child=$!\n"
    "{ cat <&3 > /dev/null; kill \"$child\"; } > /dev/null 2>&1 &\n"
    "exec 3<&-\n"
    "wait \"$child\"\n";
constexpr int kNotThere = 127;  // of a shell

std::string conf_in(const std::string& folder) { return folder + "/dnsmasq.conf"; }

Error storage(const std::string& path, const std::error_code& failure) {
  return {Code::kStorage, path + ": " + failure.message()};
}

struct Interfaces {
  ifaddrs* first = nullptr;
  Interfaces() { ::getifaddrs(&first); }
  Interfaces(const Interfaces&) = delete;
  Interfaces& operator=(const Interfaces&) = delete;
  ~Interfaces() { ::freeifaddrs(first); }
};

/// dnsmasq itself waits for an interface that is not there.
Result<void> check_interface(const DhcpConf& conf) {
  if (::if_nametoindex(conf.interface.c_str()) == 0)
    return Error{Code::kInvalid, "DHCP: this machine has no interface " + conf.interface +
                                     ": correct boot: dhcp: interface (ip link show)"};
  in_addr expected{};
  ::inet_pton(AF_INET, conf.server.c_str(), &expected);
  const Interfaces all;
  for (const auto* each = all.first; each != nullptr; each = each->ifa_next) {
    if (each->ifa_addr == nullptr || each->ifa_addr->sa_family != AF_INET) continue;
    sockaddr_in address{};
    std::memcpy(&address, each->ifa_addr, sizeof address);
    if (conf.interface == each->ifa_name && address.sin_addr.s_addr == expected.s_addr) return ok();
  }
  return Error{Code::kInvalid,
               fmt::format("DHCP: interface {} does not have the address {} of boot: serve, which "
                           "machines on it are sent to (ip address show {})",
                           conf.interface, conf.server, conf.interface)};
}

/// What comes in pieces, as lines.
class Lines {
 public:
  explicit Lines(std::function<void(std::string_view)> heard) : heard_{std::move(heard)} {}
  void add(std::string_view piece) {
    for (const char c : piece) {
      if (c == '\n')
        end_line();
      else if (line_.size() < kLongestLine)
        line_ += c;
    }
  }
  const std::string& last() const { return last_; }

 private:
  void end_line() {
    if (heard_) heard_(line_);
    if (!line_.empty()) last_ = std::move(line_);
    line_.clear();
  }
  std::function<void(std::string_view)> heard_;
  std::string line_{}, last_{};
};

}  // namespace

std::vector<std::string> programs_in(const fs::path& folder) {
  std::vector<std::string> found;
  std::error_code absent;
  for (const auto program : tftp_programs())
    if (fs::is_regular_file(folder / program, absent)) found.emplace_back(program);
  return found;
}

Dnsmasq::Dnsmasq(std::string folder)
    : folder_{std::make_unique<const std::string>(std::move(folder))} {}

Dnsmasq::~Dnsmasq() {
  std::error_code ignored;
  if (folder_) fs::remove_all(*folder_, ignored);
}

Result<Dnsmasq> Dnsmasq::prepare(DhcpConf conf, std::span<const DhcpNode> nodes,
                                 const fs::path& programs) {
  TRY(check_interface(conf));
  std::error_code failure;
  auto name = (fs::temp_directory_path(failure) / "cupel-dhcp-XXXXXX").string();
  if (failure || ::mkdtemp(name.data()) == nullptr)
    return storage(name, std::error_code{errno, std::generic_category()});
  Dnsmasq made{name};
  conf.lease_file = name + "/leases";
  conf.tftp_folder = name + "/tftp";
  conf.programs = programs_in(programs);
  fs::create_directory(conf.tftp_folder, failure);
  if (failure) return storage(conf.tftp_folder, failure);
  for (const auto& program : conf.programs) {
    const auto copy = fs::path{conf.tftp_folder} / program;
    fs::copy_file(programs / program, copy, failure);
    if (failure) return storage(copy.string(), failure);
    ::chmod(copy.c_str(), kReadable);
  }
  ::chmod(conf.tftp_folder.c_str(), kReadable);
  ::chmod(name.c_str(), kPassable);
  TRY(const auto text, dnsmasq_conf(conf, nodes));
  TRY(write_file(conf_in(name), text, kOursAlone));
  return made;
}

Task<Result<void>> Dnsmasq::run(std::function<void(std::string_view line)> heard) {
  const auto lines = std::make_shared<Lines>(std::move(heard));
  ProcessRequest request{
      .argv = {"/bin/sh", "-c", kUntilInputEnds, "dnsmasq",
               is_there(kProgram) ? kProgram : "dnsmasq", "--keep-in-foreground",
               "--conf-file=" + conf_in(*folder_), "--log-facility=-", "--pid-file="},
      .input_stays_open = true,
      .on_error = [lines](std::string_view piece) { lines->add(piece); }};
  // As root it opens its sockets, then goes on as nobody; who is not root stays who it is.
  if (::geteuid() == 0) request.argv.emplace_back("--user=nobody");
  auto outcome = co_await run_process(std::move(request), Deadline::in(kForGood));
  if (!outcome) co_return std::move(outcome).error();
  if (outcome->exit_status == kNotThere)
    co_return Error{Code::kNotFound, "dnsmasq is not installed: apt install dnsmasq-base"};
  co_return Error{Code::kFailed,
                  fmt::format("dnsmasq ended with {}: {}. It needs root, or CAP_NET_BIND_SERVICE, "
                              "CAP_NET_RAW and CAP_NET_ADMIN; who else has the port: ss -lnup "
                              "'sport = :67'",
                              outcome->exit_status, printable(lines->last()))};
}

}  // namespace cupel::netboot
