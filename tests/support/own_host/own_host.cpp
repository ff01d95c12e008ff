#include "tests/support/own_host/own_host.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace cupel::testing {
namespace {

namespace fs = std::filesystem;

bool own = false;
int machines_network = -1;

int network() { return ::open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC); }

void check(bool done, const std::string& what) {
  if (!done) throw std::runtime_error{"a host of the test's own: " + what};
}

/// The mounts below `folder`, each as a path that still leads to it once `folder` is covered.
std::vector<std::pair<fs::path, std::string>> mounts_below(const fs::path& folder) {
  std::vector<std::pair<fs::path, std::string>> all;
  std::ifstream mounts{"/proc/self/mounts"};
  for (std::string device, place, rest; mounts >> device >> place && std::getline(mounts, rest);) {
    if (!place.starts_with(folder.string() + "/")) continue;
    const int open = ::open(place.c_str(), O_PATH | O_CLOEXEC);
    if (open >= 0) all.emplace_back(place, "/proc/self/fd/" + std::to_string(open));
  }
  return all;
}

/// Covers `folder` with a copy that takes changes in memory alone, without those of `hidden` in it.
void copy_without(const fs::path& folder, const std::vector<std::string>& hidden) {
  if (!fs::exists(folder)) return;
  const auto below = mounts_below(folder);
  const fs::path memory{"/proc"};  // any folder will do: it is uncovered again below
  check(::mount("tmpfs", memory.c_str(), "tmpfs", 0, "mode=0755") == 0, "mount tmpfs");
  fs::create_directory(memory / "upper");
  fs::create_directory(memory / "work");
  const auto how = "lowerdir=" + folder.string() + ",upperdir=" + (memory / "upper").string() +
                   ",workdir=" + (memory / "work").string();
  const bool covered = ::mount("overlay", folder.c_str(), "overlay", 0, how.c_str()) == 0;
  ::umount2(memory.c_str(), MNT_DETACH);
  check(covered, "mount an overlay of " + folder.string());
  for (const auto& name : hidden) fs::remove_all(folder / name);
  for (const auto& [place, before] : below)
    if (fs::exists(place))
      check(::mount(before.c_str(), place.c_str(), nullptr, MS_BIND | MS_REC, nullptr) == 0,
            "mount " + place.string() + " again");
}

/// What is there is empty; nothing of it is written by tests.
void hide(const fs::path& path) {
  if (!fs::exists(path)) return;
  const bool hidden = fs::is_directory(path)
                          ? ::mount("tmpfs", path.c_str(), "tmpfs", MS_RDONLY, nullptr) == 0
                          : ::mount("/dev/null", path.c_str(), nullptr, MS_BIND, nullptr) == 0;
  check(hidden, "hide " + path.string());
}

/// Where the machine's name may lead to. One that is no loopback's must be there for getaddrinfo()
/// to find any at all (AI_ADDRCONFIG).
std::vector<sockaddr> addresses_of_the_machine() {
  std::vector<sockaddr> all;
  ifaddrs* first = nullptr;
  check(::getifaddrs(&first) == 0, "list the addresses of the machine");
  for (const auto* each = first; each != nullptr; each = each->ifa_next) {
    const bool useful = each->ifa_addr != nullptr && each->ifa_addr->sa_family == AF_INET &&
                        (each->ifa_flags & IFF_LOOPBACK) == 0;
    if (useful) all.push_back(*each->ifa_addr);
  }
  ::freeifaddrs(first);
  if (!all.empty()) return all;
  sockaddr_in documented{};  // RFC 5737
  documented.sin_family = AF_INET;
  documented.sin_addr.s_addr = ::inet_addr("192.0.2.1");
  all.emplace_back();
  std::memcpy(&all.back(), &documented, sizeof documented);
  return all;
}

/// All of these lead to this process and its children.
void start_loopback(const std::vector<sockaddr>& addresses) {
  const int any = ::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  check(any >= 0, "a socket");
  ifreq loopback{.ifr_ifrn = {"lo"}, .ifr_ifru = {}};
  loopback.ifr_flags = IFF_UP;
  bool up = ::ioctl(any, SIOCSIFFLAGS, &loopback) == 0;
  for (std::size_t i = 0; i < addresses.size(); ++i) {
    ifreq another{};
    const auto name = "lo:" + std::to_string(i + 1);
    std::memcpy(another.ifr_name, name.c_str(), name.size());
    another.ifr_addr = addresses[i];
    up = up && ::ioctl(any, SIOCSIFADDR, &another) == 0;
    sockaddr_in one{};
    one.sin_family = AF_INET;
    one.sin_addr.s_addr = INADDR_BROADCAST;
    std::memcpy(&another.ifr_netmask, &one, sizeof one);
    up = up && ::ioctl(any, SIOCSIFNETMASK, &another) == 0;
  }
  ::close(any);
  check(up, "start the loopback");
}

/// A program that looks for leaks at its end spends a third of its start's CPU on that, and tests
/// start thousands. The test program itself looks for its own.
void let_children_not_look_for_leaks() {
  if (std::getenv("CUPEL_LEAKS_OF_CHILDREN") != nullptr) return;
  const char* before = std::getenv("ASAN_OPTIONS");
  const std::string options = before == nullptr ? "" : std::string{before} + ":";
  ::setenv("ASAN_OPTIONS", (options + "detect_leaks=0").c_str(), 1);
}

class OwnHost final : public ::testing::Environment {
 public:
  void SetUp() override {
    let_children_not_look_for_leaks();
    for (const auto* of_the_tester :
         {"CUPEL_STATE", "CUPEL_SERVER", "CUPEL_TOKEN", "CUPEL_INVENTORY", "CUPEL_SETTINGS"})
      ::unsetenv(of_the_tester);
    if (own || ::geteuid() != 0) return;
    machines_network = network();
    const auto addresses = addresses_of_the_machine();
    if (::unshare(CLONE_NEWNS | CLONE_NEWNET) != 0) return;
    check(::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0, "private mounts");
    copy_without("/opt", {"cupel"});
    copy_without("/var/lib", {"cupel", "cupel-node"});
    for (const auto* path : {"/etc/cupel", "/run/cupel", "/run/cupel-check.json"}) hide(path);
    start_loopback(addresses);
    own = true;
  }
};

[[maybe_unused]] const auto* const kOwnHost =
    ::testing::AddGlobalTestEnvironment(new OwnHost);  // googletest deletes it

}  // namespace

bool has_own_host() { return own; }

MachinesNetwork::MachinesNetwork() : ours_{own ? network() : -1} {
  if (own) ::setns(machines_network, CLONE_NEWNET);
}

MachinesNetwork::~MachinesNetwork() {
  if (ours_ < 0) return;
  ::setns(ours_, CLONE_NEWNET);
  ::close(ours_);
}

}  // namespace cupel::testing
