#include "tests/support/sshd.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <poll.h>
#include <pwd.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <stdexcept>

#include "tests/support/free_port.h"

namespace cupel::testing {
namespace {

namespace fs = std::filesystem;
constexpr const char* kServer = "/usr/sbin/sshd";

std::string whole(const fs::path& file) {
  std::ostringstream text;
  text << std::ifstream{file, std::ios::binary}.rdbuf();
  return text.str();
}

void make_key(const fs::path& file) {
  const auto command = "ssh-keygen -q -t ed25519 -N '' -C cupel-test -f '" + file.string() + "'";
  if (std::system(command.c_str()) != 0) throw std::runtime_error{"ssh-keygen failed"};
}

std::string configuration(const fs::path& folder, const std::vector<std::string>& addresses,
                          std::uint16_t port) {
  std::ostringstream text;
  text << "Port " << port << "\nHostKey " << (folder / "host").string() << "\nAuthorizedKeysFile "
       << (folder / "authorized").string()
       << "\nStrictModes no\nUsePAM no\nPidFile none\nMaxStartups 1000\nMaxSessions 100\n"
          "LoginGraceTime 60\nPasswordAuthentication no\nKbdInteractiveAuthentication no\n"
          "PermitRootLogin prohibit-password\nUseDNS no\nPrintMotd no\nLogLevel INFO\n"
          // A login shell reads start-up files there: the tester's own are none of our business.
          // Nor is what somebody has set on this machine.
          "SetEnv HOME="
       << folder.string() << " CUPEL_SETTINGS="
       << (folder / "settings").string()
       // A folder for what a test installs on the node.
       << " PATH=" << (folder / "path").string() << ":/usr/local/bin:/usr/bin:/bin\n";
  for (const auto& address : addresses) text << "ListenAddress " << address << "\n";
  return text.str();
}

/// Reads what the server says until it has said so often that it listens.
std::string until_listening(int pipe, std::size_t times) {
  std::string output;
  const auto end = std::chrono::steady_clock::now() + std::chrono::minutes{1};
  std::size_t heard = 0;
  while (heard < times && std::chrono::steady_clock::now() < end) {
    pollfd waiting{pipe, POLLIN, 0};
    if (::poll(&waiting, 1, 1000) <= 0) continue;
    char piece[4096];
    const auto got = ::read(pipe, piece, sizeof piece);
    if (got <= 0) break;
    output.append(piece, static_cast<std::size_t>(got));
    heard = 0;
    for (auto at = output.find("Server listening on"); at != output.npos;
         at = output.find("Server listening on", at + 1))
      ++heard;
  }
  if (heard < times) throw std::runtime_error{"sshd does not listen: " + output};
  return output;
}

}  // namespace

std::vector<pid_t> children_of(pid_t parent) {
  std::vector<pid_t> found;
  for (const auto& entry : fs::directory_iterator{"/proc"}) {
    const auto name = entry.path().filename().string();
    if (name.find_first_not_of("0123456789") != name.npos) continue;
    const auto stat = whole(entry.path() / "stat");
    const auto after_name = stat.rfind(')');
    if (after_name == stat.npos) continue;
    std::istringstream fields{stat.substr(after_name + 1)};
    char state = 0;
    pid_t its_parent = 0;
    fields >> state >> its_parent;
    if (its_parent == parent) found.push_back(static_cast<pid_t>(std::stol(name)));
  }
  return found;
}

bool Sshd::installed() { return ::access(kServer, X_OK) == 0; }

Sshd::Sshd(std::vector<std::string> addresses) : addresses_{std::move(addresses)} {
  char name[] = "/tmp/cupel-sshd-XXXXXX";
  folder_ = ::mkdtemp(name);
  if (::geteuid() == 0) fs::create_directories("/run/sshd");
  for (const char* key : {"host", "user", "strange"}) make_key(folder_ / key);
  fs::copy_file(folder_ / "user.pub", folder_ / "authorized");
  restart();
}

void Sshd::restart() {
  for (int tries = 0; pid_ < 0; ++tries) {
    try {
      start();
    } catch (const std::runtime_error&) {
      if (tries == 3) throw;  // somebody else took the port three times
    }
  }
}

void Sshd::start() {
  port_ = test::free_port();
  std::ofstream{folder_ / "sshd_config"} << configuration(folder_, addresses_, port_);
  int ends[2];
  if (::pipe(ends) != 0) throw std::runtime_error{"pipe"};
  const auto config = file("sshd_config");
  const auto log = file("log");
  const pid_t pid = ::fork();
  if (pid == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);  // a test that crashes leaves no server behind
    const int nothing = ::open("/dev/null", O_RDWR);
    ::dup2(nothing, 0);
    ::dup2(nothing, 1);
    ::dup2(ends[1], 2);
    ::close(ends[0]);
    ::close(ends[1]);
    ::execl(kServer, kServer, "-D", "-e", "-f", config.c_str(), nullptr);
    ::_exit(127);
  }
  ::close(ends[1]);
  try {
    until_listening(ends[0], addresses_.size());
  } catch (...) {
    ::kill(pid, SIGKILL);
    ::waitpid(pid, nullptr, 0);
    ::close(ends[0]);
    throw;
  }
  pid_ = pid;
  ::fcntl(ends[0], F_SETFD, FD_CLOEXEC);
  // It goes on talking, and must not block on a full pipe.
  drain_ = std::jthread{[pipe = ends[0]](const std::stop_token& stop) {
    char piece[4096];
    pollfd waiting{pipe, POLLIN, 0};
    while (!stop.stop_requested())
      if (::poll(&waiting, 1, 100) > 0 && ::read(pipe, piece, sizeof piece) <= 0) break;
    ::close(pipe);
  }};
}

inventory::SshAccess Sshd::access(const std::string& address) const {
  const auto* user = ::getpwuid(::geteuid());
  inventory::SshAccess access;
  access.endpoint = {address, port_};
  access.user = user != nullptr ? user->pw_name : "root";
  access.key_file = file("user");
  return access;
}

void Sshd::crash() {
  if (pid_ < 0) return;
  auto doomed = children_of(pid_);
  for (std::size_t i = 0; i < doomed.size(); ++i) {
    // The process of a session has the login shell as its child; only sshd's own are the node's.
    if (whole("/proc/" + std::to_string(doomed[i]) + "/cmdline").find("sshd") == std::string::npos)
      continue;
    for (const auto child : children_of(doomed[i]))
      if (whole("/proc/" + std::to_string(child) + "/cmdline").starts_with("sshd"))
        doomed.push_back(child);
    ::kill(doomed[i], SIGKILL);
  }
  ::kill(pid_, SIGKILL);
  ::waitpid(pid_, nullptr, 0);
  pid_ = -1;
}

Sshd::~Sshd() {
  crash();
  std::error_code ignored;
  fs::remove_all(folder_, ignored);
}

namespace {

/// The network that a process is in: "net:[4026531833]". Empty where it has ended.
std::string network_of(const std::string& process) {
  std::error_code gone;
  return fs::read_symlink("/proc/" + process + "/ns/net", gone).string();
}

/// Of all living processes in the network of this one, which no other test's are in where it has
/// one of its own, those whose `file` in /proc pleases. A zombie's are empty.
template <class Pleases>
std::vector<pid_t> processes_where(const char* file, const Pleases& pleases) {
  std::vector<pid_t> found;
  const auto ours = network_of("thread-self");
  for (const auto& entry : fs::directory_iterator{"/proc"}) {
    const auto name = entry.path().filename().string();
    if (name.find_first_not_of("0123456789") != name.npos || network_of(name) != ours) continue;
    if (!pleases(whole(entry.path() / file))) continue;
    const auto pid = static_cast<pid_t>(std::stol(name));
    if (pid != ::getpid()) found.push_back(pid);
  }
  return found;
}

}  // namespace

std::vector<pid_t> processes_with(const std::string& text) {
  return processes_where("cmdline", [&](const std::string& words) { return words.contains(text); });
}

/// By the folder's name: which folder it lies in depends on who logs in.
std::vector<pid_t> processes_of_job(const std::string& folder) {
  const auto tail = "/" + fs::path{folder}.filename().string();
  return processes_where("environ", [&](const std::string& environment) {
    const auto begin = environment.find("CUPEL_JOB=");
    if (begin == environment.npos) return false;
    return environment.substr(begin, environment.find('\0', begin) - begin).ends_with(tail);
  });
}

}  // namespace cupel::testing
