// `true` on 200 addresses at a fan-out of 64: Cupel, in this process and as a command, against
// `pdsh -R ssh`, `clush`, and plain blocking libssh on 64 threads. One real sshd serves them all on
// this machine, so its CPU is part of every wall time: it is reported too, as the floor below which
// no client can come here.
//
//   ssh_bench [ROUNDS]     all contenders in turn, ROUNDS times (5); medians are printed
#include <fmt/format.h>
#include <poll.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <fstream>
#include <span>
#include <thread>

#include "base/text.h"
#include "orchestrator/ssh/fan_out.h"
#include "orchestrator/ssh/libssh.h"
#include "tests/bench/beside.h"
#include "tests/bench/cpu_time.h"
#include "tests/support/sshd.h"

namespace {

using namespace cupel;
using namespace std::chrono_literals;

constexpr int kTargets = 200;
constexpr int kWidth = 64;
constexpr const char* kAddresses = "127.66.0.[1-200]";

class Notebook final : public inventory::KnownKeys {
 public:
  std::optional<std::string> pinned(std::string_view name) override {
    const auto found = pins_.find(name);
    return found == pins_.end() ? std::nullopt : std::optional{found->second};
  }
  void pin(std::string_view name, std::string_view key) override { pins_.emplace(name, key); }

 private:
  std::map<std::string, std::string, std::less<>> pins_;
};

std::string address(int i) { return "127.66.0." + std::to_string(i + 1); }

/// The server, and the files that each contender wants.
struct Site {
  testing::Sshd sshd{{"0.0.0.0"}};
  std::string user = sshd.access().user;
  std::string key = sshd.file("user");
  std::string config = sshd.file("ssh_config");
  std::string inventory = sshd.file("site.yaml");
  std::string state = sshd.file("state");
  Notebook known;
};

std::string text_of(const std::string& file) {
  std::ifstream stream{file};
  return {std::istreambuf_iterator<char>{stream}, {}};
}

void write_files(const Site& site) {
  const auto port = site.sshd.port();
  const auto known_hosts = site.sshd.file("known_hosts");
  std::ofstream{known_hosts} << fmt::format("[127.66.0.*]:{} {}", port,
                                            text_of(site.sshd.file("host.pub")));
  std::ofstream{site.config} << fmt::format(
      "Host *\n  Port {}\n  User {}\n  IdentityFile {}\n  IdentitiesOnly yes\n  BatchMode yes\n"
      "  StrictHostKeyChecking yes\n  UserKnownHostsFile {}\n  GlobalKnownHostsFile /dev/null\n"
      "  ControlMaster no\n  ControlPath none\n  LogLevel ERROR\n",
      port, site.user, site.key, known_hosts);
  std::string addresses;
  for (int i = 0; i < kTargets; ++i)
    addresses += fmt::format("{}{}:{}", i == 0 ? "" : ",", address(i), port);
  std::ofstream{site.inventory} << fmt::format(
      "site: bench\nnodes:\n  - name: n[1-200]\n    profile: dgx-h100\n"
      "    bmc: {{address: '10.0.0.[1-200]', user: u, password: 'env:P'}}\n"
      "    ssh: {{address: '{}', user: {}, key: {}}}\n",
      addresses, site.user, site.key);
}

bool ours(Site& site) {
  std::vector<ssh::Target> targets;
  for (int i = 0; i < kTargets; ++i) targets.push_back({address(i), site.sshd.access(address(i))});
  asio::io_context io{1};
  const auto outcomes = run_to_end(
      io, ssh::fan_out(std::move(targets), "true", {.width = kWidth, .patience = 60s}, site.known));
  return std::ranges::all_of(outcomes, [](const ssh::NodeOutcome& each) {
    return each.outcome && each.outcome->exit_status == 0;
  });
}

bool shell(const std::string& command) {
  return std::system((command + " < /dev/null > /dev/null").c_str()) == 0;
}

bool our_command(Site& site) {
  return shell(fmt::format("{} --state {} exec --inventory {} -f {} all -- true", CUPEL_BINARY,
                           site.state, site.inventory, kWidth));
}

bool pdsh(Site& site) {
  return shell(fmt::format("PDSH_SSH_ARGS_APPEND='-F {}' pdsh -R ssh -S -f {} -w '{}' true",
                           site.config, kWidth, kAddresses));
}

bool clush(Site& site) {
  return shell(
      fmt::format("clush -S -f {} -o '-F {}' -w '{}' true", kWidth, site.config, kAddresses));
}

/// The host key's fingerprint as OpenSSH prints it.
std::string shown_key(ssh_session session) {
  ssh_key raw = nullptr;
  if (ssh_get_server_publickey(session, &raw) != SSH_OK) return {};
  const ssh::Key key{raw};
  unsigned char* hash = nullptr;
  std::size_t length = 0;
  ssh_get_publickey_hash(key.get(), SSH_PUBLICKEY_HASH_SHA256, &hash, &length);
  char* printed = ssh_get_fingerprint_hash(SSH_PUBLICKEY_HASH_SHA256, hash, length);
  std::string text = printed;
  ssh_string_free_char(printed);
  ssh_clean_pubkey_hash(&hash);
  return text;
}

bool run_true(ssh_session session) {
  const ssh::Channel channel{ssh_channel_new(session)};
  if (ssh_channel_open_session(channel.get()) != SSH_OK) return false;
  if (ssh_channel_request_exec(channel.get(), "true") != SSH_OK) return false;
  char piece[4096];
  while (ssh_channel_read(channel.get(), piece, sizeof piece, 0) > 0) {
  }
  return ssh_channel_get_exit_status(channel.get()) == 0;
}

/// As the library's own tutorial does it, with nothing tuned; the key is read once for each thread.
bool visit_blocking(const Site& site, const std::string& where, ssh_key key,
                    const std::string& pin) {
  const ssh::Owned<ssh_session, ssh_free> session{ssh_new()};
  const int port = site.sshd.port();
  ssh_options_set(session.get(), SSH_OPTIONS_HOST, where.c_str());
  ssh_options_set(session.get(), SSH_OPTIONS_PORT, &port);
  ssh_options_set(session.get(), SSH_OPTIONS_USER, site.user.c_str());
  if (ssh_connect(session.get()) != SSH_OK) return false;
  const bool good = shown_key(session.get()) == pin &&
                    ssh_userauth_publickey(session.get(), nullptr, key) == SSH_AUTH_SUCCESS &&
                    run_true(session.get());
  ssh_disconnect(session.get());
  return good;
}

bool blocking(Site& site) {
  const auto pin = site.known.pinned("ssh:" + address(0)).value_or("");
  std::atomic<int> next = 0;
  std::atomic<int> good = 0;
  std::vector<std::jthread> threads;
  for (int i = 0; i < kWidth; ++i)
    threads.emplace_back([&] {
      ssh_key key = nullptr;
      ssh_pki_import_privkey_file(site.key.c_str(), nullptr, nullptr, nullptr, &key);
      for (int mine = next++; mine < kTargets; mine = next++)
        good += visit_blocking(site, address(mine), key, pin) ? 1 : 0;
      ssh_key_free(key);
    });
  threads.clear();
  return good == kTargets;
}

/// Of this process and of the clients that it has waited for; the server is waited for at the end.
double client_cpu() { return bench::cpu_seconds() + bench::cpu_seconds(RUSAGE_CHILDREN); }

/// Returns when every connection of the server has ended, which is after the client's end.
void wait_until_idle(pid_t server) {
  for (const auto child : testing::children_of(server)) {
    const int ended = static_cast<int>(::syscall(SYS_pidfd_open, child, 0));
    if (ended < 0) continue;  // gone already
    pollfd waiting{ended, POLLIN, 0};
    ::poll(&waiting, 1, 10'000);
    ::close(ended);
  }
}

/// Of the server and the connections that it has reaped.
double server_cpu(pid_t server) {
  const auto stat = text_of(fmt::format("/proc/{}/stat", server));
  const auto fields = words(std::string_view{stat}.substr(stat.rfind(')') + 1));
  double ticks = 0;
  for (std::size_t i = 11; i < 15; ++i) ticks += number<double>(fields.at(i)).value_or(0);
  return ticks / static_cast<double>(sysconf(_SC_CLK_TCK));
}

/// All in milliseconds.
struct Round {
  double wall = 0;
  double client = 0;
  double server = 0;
};

struct Contender {
  const char* name;
  bool (*run)(Site&);
  std::vector<Round> rounds{};
};

Round measure(Site& site, const Contender& contender) {
  const auto server_before = server_cpu(site.sshd.pid());
  const auto client_before = client_cpu();
  const auto before = std::chrono::steady_clock::now();
  const bool good = contender.run(site);
  const std::chrono::duration<double, std::milli> wall = std::chrono::steady_clock::now() - before;
  const auto client = client_cpu() - client_before;
  fmt::print(stderr, "{}: {:.0f} ms\n", contender.name, wall.count());
  if (!good) throw std::runtime_error{std::string{contender.name} + " failed on some target"};
  wait_until_idle(site.sshd.pid());
  return {wall.count(), client * 1e3, (server_cpu(site.sshd.pid()) - server_before) * 1e3};
}

double median(const std::vector<Round>& rounds, double Round::* what) {
  std::vector<double> values;
  for (const auto& round : rounds) values.push_back(round.*what);
  std::ranges::sort(values);
  return values[values.size() / 2];
}

void print(const std::vector<Contender>& all) {
  const double ours_wall = median(all.front().rounds, &Round::wall);
  const double ours_cpu = median(all.front().rounds, &Round::client);
  fmt::print("{} targets, {} at a time, {} CPUs; medians of {} rounds\n\n", kTargets, kWidth,
             std::thread::hardware_concurrency(), all.front().rounds.size());
  fmt::print("{:<26} {:>9} {:>9} {:>16} {:>9} {:>16} {:>10}\n", "", "wall ms", "x Cupel",
             "client ms/target", "x Cupel", "sshd ms/target", "floor ms");
  for (const auto& each : all) {
    const double wall = median(each.rounds, &Round::wall);
    const double client = median(each.rounds, &Round::client);
    const double server = median(each.rounds, &Round::server);
    fmt::print("{:<26} {:>9.0f} {:>9.2f} {:>16.2f} {:>9.2f} {:>16.2f} {:>10.0f}\n", each.name, wall,
               wall / ours_wall, client / kTargets, client / ours_cpu, server / kTargets,
               server / std::thread::hardware_concurrency());
  }
  fmt::print("\nfloor: the server's CPU alone, spread over all CPUs of this machine.\n");
  for (const auto& each : std::span{all}.subspan(1)) {
    const auto what = fmt::format("true on {} nodes", kTargets);
    bench::print_beside({.what = what,
                         .peer = each.name,
                         .unit = "ms",
                         .ours = ours_wall,
                         .theirs = median(each.rounds, &Round::wall)});
    bench::print_beside({.what = what,
                         .peer = each.name,
                         .unit = "ms of CPU",
                         .ours = ours_cpu,
                         .theirs = median(each.rounds, &Round::client)});
  }
}

}  // namespace

int main(int argc, char** argv) {
  const int rounds = argc > 1 ? std::max(1, std::atoi(argv[1])) : 5;
  Site site;
  write_files(site);
  std::vector<Contender> all{{"cupel, fan_out()", ours},
                             {"cupel exec", our_command},
                             {"libssh, 64 threads", blocking},
                             {"pdsh -R ssh -f 64", pdsh},
                             {"clush -f 64", clush}};
  for (const auto& each : all) measure(site, each);  // pins are written, files are in the cache
  for (int round = 0; round < rounds; ++round)
    for (auto& each : all) each.rounds.push_back(measure(site, each));
  print(all);
}
