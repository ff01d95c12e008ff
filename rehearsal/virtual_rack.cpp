#include "rehearsal/virtual_rack.h"

#include <signal.h>

#include <atomic>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <cmath>
#include <thread>

#include "base/file.h"
#include "base/text.h"
#include "rehearsal/bmc/server.h"
#include "rehearsal/ipmi/server.h"
#include "rehearsal/rack_inventory.h"
#include "rehearsal/ssh/server.h"

namespace cupel::rehearsal {
namespace {

namespace fs = std::filesystem;
constexpr const char* kUser = "admin";

Result<void> make_folder(const fs::path& folder) {
  std::error_code failure;
  fs::create_directories(folder, failure);
  if (!failure) fs::permissions(folder, fs::perms::owner_all, failure);
  if (failure)
    return Error{Code::kStorage, "cannot make " + folder.string() + ": " + failure.message()};
  return ok();
}

Result<std::string> load_or_make_password(const fs::path& file) {
  constexpr std::size_t kLimit = 1024;
  const auto known = read_file(file, kLimit);
  if (known) return std::string{trimmed(known.assume_value())};
  if (known.assume_error().code != Code::kNotFound) return known.assume_error();
  auto made = random_hex(8);  // 16 characters: IPMI takes no more than 20
  TRY(write_file(file, made + "\n", 0600));
  return made;
}

Result<asio::ip::tcp::endpoint> endpoint_of(const std::string& address, std::uint16_t port) {
  boost::system::error_code failure;
  const auto parsed = asio::ip::make_address_v4(address, failure);
  if (failure) return Error{Code::kInvalid, "'" + address + "' is no IPv4 address"};
  return asio::ip::tcp::endpoint{parsed, port};
}

/// Signals are for the process's other threads; a peer that has gone is an error code here.
void block_signals() {
  sigset_t all;
  sigfillset(&all);
  ::pthread_sigmask(SIG_BLOCK, &all, nullptr);
}

}  // namespace

/// What the rack has in common, and then one entry for each node.
struct VirtualRack::Impl {
  struct Node {
    Machine machine;
    Host host;
    Key host_key;
    std::string bmc_pin;
    NodeSpec spec;
    std::unique_ptr<BmcServer> bmc{};
    std::unique_ptr<ipmi::Server> ipmi{};
    std::unique_ptr<SshServer> ssh{};

    Node(asio::any_io_executor executor, const Clock& clock, const inventory::Profile& profile,
         const NodeSpec& of, std::uint64_t seed, const BootTimes& times)
        : machine{executor, clock, profile, of.name, seed, times, of.faults},
          host{executor, machine},
          spec{of} {}
  };

  Impl(const RackSpec& rack, inventory::Profile kind, RackOptions how)
      : options{std::move(how)}, spec{rack}, profile{std::move(kind)}, clock{options.speed} {}

  Result<void> build();
  Result<void> build_node(const NodeSpec& node);
  Result<void> connect(Node& node);
  Result<void> connect_ipmi(Node& node);
  void end();
  fs::path file(const std::string& name) const { return options.folder / name; }

  RackOptions options;
  RackSpec spec;
  inventory::Profile profile;
  Clock clock;
  asio::io_context io{1};  // outlives what runs on it
  asio::executor_work_guard<asio::io_context::executor_type> work{io.get_executor()};
  Key authorized;
  std::string password;
  std::map<std::string, std::unique_ptr<Node>, std::less<>> nodes;
  std::atomic<bool> stopped = false;
  std::thread thread;
};

Result<void> VirtualRack::Impl::build() {
  if (options.folder.empty()) return Error{Code::kInvalid, "a virtual rack needs a folder"};
  if (!(options.speed > 0) || !std::isfinite(options.speed))
    return Error{Code::kInvalid, "the speed of a virtual rack must be more than 0"};
  if (spec.nodes.size() > kMostNodesOfARack)
    return Error{Code::kInvalid, "too many nodes for a virtual rack"};
  options.folder = fs::absolute(options.folder);
  for (const auto* name : {"", "bmc", "ssh"}) {
    TRY(make_folder(file(name)));
  }
  TRY(password, load_or_make_password(file("bmc-password")));
  TRY(authorized, load_or_make_key(file("id_ed25519")));
  for (const auto& node : spec.nodes) {
    TRY(build_node(node));
  }
  return ok();
}

Result<void> VirtualRack::Impl::build_node(const NodeSpec& wanted) {
  auto made =
      std::make_unique<Node>(io.get_executor(), clock, profile, wanted, options.seed, spec.boot);
  auto& node = *made;
  if (!nodes.try_emplace(wanted.name, std::move(made)).second)
    return Error{Code::kInvalid, "node " + wanted.name + " stands twice"};
  return within(wanted.name, connect(node));
}

Result<void> VirtualRack::Impl::connect(Node& node) {
  const auto& wanted = node.spec;
  TRY(const auto bmc, endpoint_of(wanted.bmc_address, wanted.bmc_port));
  TRY(const auto ssh, endpoint_of(wanted.ssh_address, wanted.ssh_port));
  TRY(auto certificate, load_or_make_certificate(file("bmc") / (wanted.name + ".pem"),
                                                 wanted.name + "-bmc", wanted.bmc_address));
  node.bmc_pin = certificate.fingerprint;
  TRY(node.host_key, load_or_make_key(file("ssh") / wanted.name));
  node.bmc =
      std::make_unique<BmcServer>(io.get_executor(), node.machine, BmcAccount{kUser, password},
                                  std::move(certificate), bmc, wanted.bmc);
  TRY(node.bmc->listen());
  TRY(connect_ipmi(node));
  node.ssh =
      std::make_unique<SshServer>(io.get_executor(), node.host, node.host_key, authorized, ssh);
  return node.ssh->bind();
}

/// One BMC behind both: it is away on both when either is told to reset it.
Result<void> VirtualRack::Impl::connect_ipmi(Node& node) {
  TRY(const auto at, endpoint_of(node.spec.bmc_address, node.spec.ipmi_port));
  node.ipmi = std::make_unique<ipmi::Server>(io.get_executor(), node.machine, kUser, password,
                                             ipmi::Peer{at.address(), at.port()});
  const auto restart = [&node] {
    node.bmc->restart();
    node.ipmi->restart();
  };
  node.bmc->service().on_restart = restart;
  node.bmc->service().state().accounts.on_password = [&node](const BmcUser& user) {
    node.ipmi->service().users().set_password(user.name, user.password);
  };
  node.ipmi->service().on_restart = restart;
  return node.ipmi->listen();
}

/// On the loop, or where it does not run.
void VirtualRack::Impl::end() {
  for (const auto& [name, node] : nodes) {
    if (node->bmc) node->bmc->stop();
    if (node->ipmi) node->ipmi->stop();
    if (node->ssh) node->ssh->stop();
    node->machine.stop();
    node->host.kill_all();
  }
  work.reset();
}

VirtualRack::VirtualRack(std::unique_ptr<Impl> impl) : impl_{std::move(impl)} {}
VirtualRack::~VirtualRack() { stop(); }

Result<std::unique_ptr<VirtualRack>> VirtualRack::start(const RackSpec& spec,
                                                        const inventory::Profile& profile,
                                                        const RackOptions& options) {
  std::unique_ptr<VirtualRack> rack{
      new VirtualRack{std::make_unique<Impl>(spec, profile, options)}};
  auto& impl = *rack->impl_;
  TRY(impl.build());
  impl.thread = std::thread{[&impl] {
    block_signals();
    impl.io.run();
  }};
  return rack;
}

void VirtualRack::stop() {
  if (impl_->stopped.exchange(true)) return;
  if (!impl_->thread.joinable()) {
    // Never started: what was built still has coroutines that want to end.
    impl_->end();
    impl_->io.run();
    return;
  }
  asio::post(impl_->io, [impl = impl_.get()] { impl->end(); });
  impl_->thread.join();
}

std::uint16_t VirtualRack::ipmi_port(const std::string& node) const {
  const auto found = impl_->nodes.find(node);
  return found == impl_->nodes.end() ? std::uint16_t{0} : found->second->ipmi->port();
}

bool VirtualRack::post(const std::string& node, std::function<void(Machine&)> act) {
  const auto found = impl_->nodes.find(node);
  if (found == impl_->nodes.end() || impl_->stopped) return false;
  asio::post(impl_->io,
             [impl = impl_.get(), &machine = found->second->machine, doing = std::move(act)] {
               if (!impl->stopped) doing(machine);
             });
  return true;
}

std::string VirtualRack::inventory_yaml() const {
  RackAccess access{.rack = impl_->spec.name,
                    .bmc_user = kUser,
                    .password_file = impl_->file("bmc-password").string(),
                    .key_file = impl_->file("id_ed25519").string(),
                    .nodes = {}};
  for (const auto& spec : impl_->spec.nodes) {
    const auto& node = *impl_->nodes.at(spec.name);
    access.nodes.push_back({.name = spec.name,
                            .bmc = spec.bmc_address + ":" + std::to_string(node.bmc->port()),
                            .bmc_pin = node.bmc_pin,
                            .ipmi_port = node.ipmi->port(),
                            .ssh = spec.ssh_address + ":" + std::to_string(node.ssh->port()),
                            .host_key = fingerprint(node.host_key)});
  }
  return inventory_text(access, impl_->profile);
}

}  // namespace cupel::rehearsal
