#include "tests/support/qemu/network_bed.h"

#include <fcntl.h>
#include <sched.h>
#include <unistd.h>

#include <filesystem>
#include <stdexcept>
#include <vector>

#include "tests/support/child.h"

namespace cupel::testing {
namespace {

bool ip(std::vector<std::string> words, std::string& why) {
  words.insert(words.begin(), "ip");
  const auto ran = run(words, {}, std::chrono::seconds{20});
  why = ran.err;
  return ran.status == 0;
}

}  // namespace

bool NetworkBed::possible() {
  return ::geteuid() == 0 && std::filesystem::exists("/dev/net/tun") &&
         (std::filesystem::exists("/usr/sbin/ip") || std::filesystem::exists("/sbin/ip"));
}

NetworkBed::NetworkBed(int taps)
    : before_{::open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC)} {
  if (before_ < 0 || ::unshare(CLONE_NEWNET) != 0)
    throw std::runtime_error{"no network namespace: only root can make one"};
  std::vector<std::vector<std::string>> lines{
      {"link", "set", "lo", "up"},
      {"link", "add", "br0", "type", "bridge", "stp_state", "0", "forward_delay", "0"},
      {"addr", "add", std::string{kAddress} + "/24", "dev", "br0"},
      {"link", "set", "br0", "up"}};
  for (int i = 0; i < taps; ++i) {
    lines.push_back({"tuntap", "add", "dev", tap(i), "mode", "tap"});
    lines.push_back({"link", "set", tap(i), "master", "br0", "up"});
  }
  std::string why;
  for (auto& line : lines)
    if (!ip(line, why)) {
      ::setns(before_, CLONE_NEWNET);
      throw std::runtime_error{"no bridge in a namespace: " + why};
    }
}

NetworkBed::~NetworkBed() {
  ::setns(before_, CLONE_NEWNET);
  ::close(before_);
}

}  // namespace cupel::testing
