#include "rehearsal/virtual_rack.h"

#include <fmt/format.h>
#include <signal.h>

#include <atomic>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <cmath>
#include <thread>

#include "base/file.h"
#include "base/ownership.h"
#include "base/paths.h"
#include "base/text.h"
#include "inventory/model.h"
#include "rehearsal/bmc/server.h"
#include "rehearsal/ipmi/server.h"
#include "rehearsal/netboot/ram_system.h"
#include "rehearsal/open_files.h"
#include "rehearsal/pdu/rack_pdus.h"
#include "rehearsal/physics/forwarding_text.h"
#include "rehearsal/physics/rack_site.h"
#include "rehearsal/rack_inventory.h"
#include "rehearsal/rack_of_site.h"
#include "rehearsal/ssh/server.h"

namespace cupel::rehearsal {
namespace {

namespace fs = std::filesystem;

constexpr const char* kPduPassword = "pdu-password";  // its file; one for all PDUs
constexpr const char* kForwarding = "forwarding.txt";

Result<void> make_folder(const fs::path& folder) {
  std::error_code failure;
  fs::create_directories(folder, failure);
  if (!failure) fs::permissions(folder, fs::perms::owner_all, failure);
  if (failure)
    return Error{Code::kStorage, "cannot make " + folder.string() + ": " + failure.message()};
  return ok();
}

/// 16 characters with all that BMCs ask for in a password; IPMI takes no more than 20.
Result<std::string> load_or_make_password(const fs::path& file) {
  constexpr std::size_t kLimit = 1024;
  TRY(within("rack's password", check_ownership(file)));
  const auto known = read_file(file, kLimit);
  if (known) return std::string{trimmed(*known)};
  if (known.error().code != Code::kNotFound) return known.error();
  auto made = "Cu1-" + random_hex(6);
  TRY(write_file(file, made + "\n", 0600));
  return made;
}

Result<asio::ip::tcp::endpoint> endpoint_of(const std::string& address, std::uint16_t port) {
  boost::system::error_code failure;
  const auto parsed = asio::ip::make_address_v4(address, failure);
  if (failure) return Error{Code::kInvalid, "'" + address + "' is no IPv4 address"};
  return asio::ip::tcp::endpoint{parsed, port};
}

/// What it boots from, and where its OS goes, as on the delivery note.
void add_boot(const Machine& machine, NodeAccess& access) {
  const auto whole = make_hardware(machine.profile(), machine.name(), machine.seed(), {});
  for (const auto& adapter : whole.adapters)
    if (!adapter.infiniband && access.mac.empty()) access.mac = adapter.mac;
  if (!whole.drives.empty()) access.disk = whole.drives.front().serial;
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
    Key host_key{};  // of the system on its disk
    Key ram_key{};   // of the RAM system
    std::string bmc_pin;
    NodeSpec spec;
    std::string certificate_pem{};
    std::unique_ptr<BmcServer> bmc{};
    std::unique_ptr<ipmi::Server> ipmi{};
    std::unique_ptr<SshServer> ssh{};
    std::unique_ptr<RamSystem> ram{};

    Node(asio::any_io_executor executor, const Clock& clock, Machine::ProfilePtr profile,
         const NodeSpec& of, std::uint64_t seed, const RackSpec& rack)
        : machine{executor,  clock,     std::move(profile), of.name,    seed,
                  rack.boot, of.faults, of.identity,        rack.spread},
          host{executor, machine},
          spec{of} {
      machine.built_by(spec.bmc.vendor);
      host.set_address(spec.ssh_address);
    }
  };

  Impl(const RackSpec& rack, RackOptions how)
      : options{std::move(how)}, spec{rack}, clock{options.speed} {}

  Result<void> build();
  Result<void> build_node(const NodeSpec& node);
  Result<void> build_site(const inventory::Inventory& of);
  Result<void> connect(Node& node);
  Result<void> connect_ipmi(Node& node);
  Result<void> keep_forwarding();
  Result<std::string> password(const std::string& secret);
  Result<BmcAccount> account(Node& node);
  void run();
  void end();
  fs::path file(const std::string& name) const { return options.folder / name; }

  RackOptions options;
  RackSpec spec;
  std::map<std::string, Machine::ProfilePtr> profiles;
  Clock clock;
  asio::io_context io{1};  // outlives what runs on it
  asio::executor_work_guard<asio::io_context::executor_type> work{io.get_executor()};
  Key authorized;
  std::map<std::string, std::string> passwords;  // by the name of their file
  std::shared_ptr<Network> network = std::make_shared<Network>();
  std::map<std::string, std::unique_ptr<Node>, std::less<>> nodes;
  std::unique_ptr<RackSite> site;  // goes before the machines
  std::unique_ptr<RackPdus> pdus;  // go before the site
  std::atomic<bool> stopped = false;
  std::thread thread;
};

Result<void> VirtualRack::Impl::build() {
  if (options.folder.empty()) return Error{Code::kInvalid, "a virtual rack needs a folder"};
  if (!(options.speed > 0) || !std::isfinite(options.speed))
    return Error{Code::kInvalid, "the speed of a virtual rack must be more than 0"};
  if (spec.nodes.size() > kMostNodesOfARack)
    return Error{Code::kInvalid, "too many nodes for a virtual rack"};
  const auto of = spec.site ? *spec.site : site_of(spec);
  TRY(allow_files(spec.nodes.size(), of.pdus.size()));
  options.folder = absolute_path(options.folder);
  TRY(within("rack's folder", check_ownership(options.folder)));
  for (const auto& [name, profile] : spec.profiles)
    profiles[name] = std::make_shared<const inventory::Profile>(profile);
  for (const auto* name : {"", "bmc", "ssh"}) {
    TRY(make_folder(file(name)));
  }
  TRY(authorized, load_or_make_key(file("id_ed25519")));
  for (const auto& node : spec.nodes) {
    TRY(build_node(node));
  }
  return build_site(of);
}

/// What the machines share: air, breakers and the PDUs with their outlets, cables.
Result<void> VirtualRack::Impl::build_site(const inventory::Inventory& of) {
  site = std::make_unique<RackSite>(io.get_executor(), clock, of, options.seed,
                                    spec.adaptive_routing, spec.spread);
  std::vector<Machine*> machines;
  for (const auto& node : spec.nodes) machines.push_back(&nodes.at(node.name)->machine);
  site->join(machines);
  for (const auto& node : of.nodes)
    if (const auto known = nodes.find(node.name); known != nodes.end())
      known->second->machine.stand_in(node.rack);
  site->on_power = [this](Machine& machine, bool powered) {
    if (!powered) return;  // its servers see that there is none
    const auto& node = *nodes.at(machine.name());
    node.bmc->restart();
    node.ipmi->restart();
  };
  pdus = std::make_unique<RackPdus>(io.get_executor(), clock, *site, of);
  if (of.pdus.empty()) return ok();
  TRY(make_folder(file("pdu")));
  TRY(const auto secret, password(kPduPassword));
  return pdus->listen(file("pdu"), secret);
}

Result<void> VirtualRack::Impl::build_node(const NodeSpec& requested) {
  const auto profile = profiles.find(spec.profile_of(requested));
  if (profile == profiles.end())
    return Error{Code::kInvalid, "there is no profile '" + spec.profile_of(requested) +
                                     "' for node " + requested.name};
  auto made = std::make_unique<Node>(io.get_executor(), clock, profile->second, requested,
                                     options.seed, spec);
  auto& node = *made;
  node.host.join(network);
  network->add(requested.name, requested.name);
  network->add(requested.ssh_address, requested.name);
  if (!nodes.try_emplace(requested.name, std::move(made)).second)
    return Error{Code::kInvalid, "node " + requested.name + " stands twice"};
  return within(requested.name, connect(node));
}

Result<void> VirtualRack::Impl::connect(Node& node) {
  const auto& requested = node.spec;
  TRY(const auto bmc, endpoint_of(requested.bmc_address, requested.bmc_port));
  TRY(const auto ssh, endpoint_of(requested.ssh_address, requested.ssh_port));
  const auto& first = requested.bmc_of.empty() ? requested.name : requested.bmc_of;
  if (!requested.bmc_of.empty() && !nodes.contains(first))
    return Error{Code::kInvalid, "its BMC is that of node " + first + ", which must come first"};
  TRY(auto certificate, load_or_make_certificate(file("bmc") / (first + ".pem"), first + "-bmc",
                                                 requested.bmc_address));
  node.bmc_pin = certificate.fingerprint;
  node.certificate_pem = certificate.certificate_pem;
  TRY(node.host_key, load_or_make_key(file("ssh") / requested.name));
  TRY(node.ram_key, make_key());
  TRY(auto account, this->account(node));
  node.bmc = std::make_unique<BmcServer>(io.get_executor(), node.machine, std::move(account),
                                         std::move(certificate), bmc, node.spec.bmc);
  for (const auto& rule : requested.rules) node.bmc->service().rules().add(rule);
  if (requested.bmc_of.empty()) {
    TRY(node.bmc->listen());
  } else {
    node.bmc->join(*nodes.at(first)->bmc);
  }
  TRY(connect_ipmi(node));
  node.ssh =
      std::make_unique<SshServer>(io.get_executor(), node.host, node.host_key, authorized, ssh);
  node.ssh->show_for_image(node.ram_key);
  node.ram = std::make_unique<RamSystem>(
      io.get_executor(), node.host,
      RamSystem::Keys{.ram = public_text(node.ram_key), .installed = public_text(node.host_key)});
  if (!options.boot.empty()) node.machine.empty_disks();
  return node.ssh->bind();
}

Result<std::string> VirtualRack::Impl::password(const std::string& secret) {
  auto& known = passwords[secret];
  if (known.empty()) {
    TRY(known, load_or_make_password(file(secret)));
  }
  return known;
}

/// A BMC that comes from the factory has the factory's password, and does nothing before that is
/// changed; one with a user of the same name only.
Result<BmcAccount> VirtualRack::Impl::account(Node& node) {
  const auto& login = node.spec.login;
  TRY(auto own, password(login.secret));
  if (login.factory_user.empty()) return BmcAccount{login.user, std::move(own)};
  TRY(auto factory, password(login.factory_secret));
  if (login.factory_user != login.user) return BmcAccount{login.user, std::move(own)};
  node.spec.bmc.factory_password = true;
  return BmcAccount{login.user, std::move(factory)};
}

/// One BMC behind both: it is away on both when either is asked to reset it.
Result<void> VirtualRack::Impl::connect_ipmi(Node& node) {
  TRY(const auto at, endpoint_of(node.spec.bmc_address, node.spec.ipmi_port));
  TRY(const auto account, this->account(node));
  node.ipmi = std::make_unique<ipmi::Server>(io.get_executor(), node.machine, account.user,
                                             account.password, ipmi::Peer{at.address(), at.port()});
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

/// What `dump_fts` would print, beside the inventory; nothing where routing is adaptive.
Result<void> VirtualRack::Impl::keep_forwarding() {
  const auto& planned = spec.site ? spec.site->fabric : spec.fabric;
  const auto text =
      planned && !spec.adaptive_routing ? forwarding_text(planned->fabric) : std::string{};
  std::error_code none;
  fs::remove(file(kForwarding), none);  // of an earlier rack in this folder
  if (text.empty()) return {};
  return write_file(file(kForwarding), text, 0600);
}

/// The loop, telling the clock when it works and when it waits.
void VirtualRack::Impl::run() {
  for (;;) {
    clock.rest();
    if (io.run_one() == 0) return;
    clock.work();
    while (io.poll() > 0) {
    }
  }
}

/// On the loop, or where it does not run.
void VirtualRack::Impl::end() {
  if (pdus) pdus->stop();
  if (site) site->stop();
  for (const auto& [name, node] : nodes) {
    if (node->bmc) node->bmc->stop();
    if (node->ipmi) node->ipmi->stop();
    if (node->ssh) node->ssh->stop();
    if (node->ram) node->ram->stop();
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
  auto whole = spec;
  whole.profiles.insert_or_assign(whole.profile, profile);
  return start(whole, options);
}

Result<std::unique_ptr<VirtualRack>> VirtualRack::start(const RackSpec& spec,
                                                        const RackOptions& options) {
  std::unique_ptr<VirtualRack> rack{new VirtualRack{std::make_unique<Impl>(spec, options)}};
  auto& impl = *rack->impl_;
  TRY(impl.build());
  TRY(impl.keep_forwarding());
  impl.clock.begin();
  impl.thread = std::thread{[&impl] {
    block_signals();
    impl.run();
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

bool VirtualRack::on_site(std::function<void(RackSite&)> act) {
  if (impl_->stopped) return false;
  asio::post(impl_->io, [impl = impl_.get(), doing = std::move(act)] {
    if (!impl->stopped) doing(*impl->site);
  });
  return true;
}

bool VirtualRack::misbehave(const std::string& node, Rule rule) {
  const auto found = impl_->nodes.find(node);
  if (found == impl_->nodes.end() || impl_->stopped) return false;
  asio::post(impl_->io, [to = found->second.get(), what = std::move(rule)] {
    to->bmc->service().rules().add(what);
  });
  return true;
}

bool VirtualRack::behave(const std::string& node) {
  const auto found = impl_->nodes.find(node);
  if (found == impl_->nodes.end() || impl_->stopped) return false;
  asio::post(impl_->io, [of = found->second.get()] { of->bmc->service().rules().clear(); });
  return true;
}

Pace VirtualRack::pace() const {
  const auto& clock = impl_->clock;
  const auto gone = clock.elapsed(), lost = clock.lost();
  const auto whole = gone + lost;
  const double share = whole.count() > 0 ? gone / whole : 1.0;
  return {.speed = clock.speed() * share, .expected = clock.speed()};
}

std::vector<NodeDoors> VirtualRack::doors() const {
  std::vector<NodeDoors> all;
  for (const auto& spec : impl_->spec.nodes) {
    const auto& node = *impl_->nodes.at(spec.name);
    const auto& login = spec.login;
    const bool new_one = login.factory_user == login.user;
    const auto& secret = new_one ? login.factory_secret : login.secret;
    all.push_back({.name = spec.name,
                   .vendor = node.bmc->service().state().spec.vendor,
                   .bmc_address = spec.bmc_address,
                   .bmc_port = node.bmc->port(),
                   .ipmi_port = node.ipmi->port(),
                   .user = login.user,
                   .secret = secret,
                   .password = impl_->passwords.at(secret),
                   .certificate_pem = node.certificate_pem,
                   .ssh_address = spec.ssh_address,
                   .ssh_port = node.ssh->port(),
                   .host_key = public_text(node.host_key)});
  }
  return all;
}

std::string VirtualRack::inventory_yaml() const {
  RackAccess access{.key_file = impl_->file("id_ed25519").string(),
                    .nodes = {},
                    .pdus = impl_->pdus->access(),
                    .pdu_password_file = impl_->file(kPduPassword).string()};
  if (!impl_->options.slurm.empty()) access.slurm = absolute_path(impl_->options.slurm).string();
  access.boot = impl_->options.boot;
  if (std::error_code none; fs::exists(impl_->file(kForwarding), none))
    access.forwarding = impl_->file(kForwarding).string();
  for (const auto& spec : impl_->spec.nodes) {
    const auto& node = *impl_->nodes.at(spec.name);
    access.nodes.push_back(
        {.bmc = spec.bmc_address + ":" + std::to_string(node.bmc->port()),
         .bmc_pin = node.bmc_pin,
         .system = spec.bmc.system,
         .ipmi_port = node.ipmi->port(),
         .password_file = impl_->file(spec.login.secret).string(),
         .factory_password_file = impl_->file(spec.login.factory_secret).string(),
         .ssh = spec.ssh_address + ":" + std::to_string(node.ssh->port()),
         .host_key = fingerprint(node.host_key)});
    add_boot(node.machine, access.nodes.back());
  }
  if (impl_->spec.site) return inventory_text(*impl_->spec.site, access);
  auto site = site_of(impl_->spec);
  // What is on the delivery note: the serial number of what should stand there.
  for (std::size_t i = 0; i < site.nodes.size(); ++i) {
    auto& machine = impl_->nodes.at(impl_->spec.nodes[i].name)->machine;
    site.nodes[i].serial =
        make_hardware(machine.profile(), machine.name(), machine.seed(), {}).serial;
  }
  return inventory_text(site, access);
}

}  // namespace cupel::rehearsal
