#include "tests/support/virtual_bmc.h"

#include <gtest/gtest.h>

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/post.hpp>
#include <thread>

#include "inventory/load_profile.h"
#include "rehearsal/bmc/server.h"
#include "rehearsal/ipmi/server.h"

namespace cupel::test {
namespace {

/// Read once: it takes longer than many a test of one request.
const inventory::Profile& profile() {
  static const auto kProfile = [] {
    std::vector<inventory::Problem> problems;
    const inventory::ProfileSource source{"/nonexistent"};
    return source.load("dgx-h100", problems).value_or(inventory::Profile{});
  }();
  return kProfile;
}

asio::ip::tcp::endpoint anywhere() { return {asio::ip::address_v4::loopback(), 0}; }

}  // namespace

struct VirtualBmc::Impl {
  explicit Impl(Options how)
      : options{std::move(how)},
        clock{options.speed},
        machine{io.get_executor(), clock, profile(), "a01-n01", 1, options.times, options.faults},
        server{io.get_executor(),
               machine,
               {"admin", options.password},
               *rehearsal::make_certificate("a01-n01-bmc", "127.0.0.1"),
               anywhere(),
               options.bmc} {
    if (!options.ipmi) return;
    ipmi.emplace(io.get_executor(), machine, "admin", options.password,
                 rehearsal::ipmi::Peer{asio::ip::address_v4::loopback(), 0});
  }

  Options options;
  asio::io_context io{1};  // outlives what runs on it
  asio::executor_work_guard<asio::io_context::executor_type> work{io.get_executor()};
  rehearsal::Clock clock;
  rehearsal::Machine machine;
  rehearsal::BmcServer server;
  std::optional<rehearsal::ipmi::Server> ipmi;
  std::thread thread;
};

VirtualBmc::VirtualBmc(Options options) : impl_{std::make_unique<Impl>(std::move(options))} {
  const auto listens = impl_->server.listen();
  EXPECT_TRUE(listens) << listens.error().what;
  const auto hears = impl_->ipmi ? impl_->ipmi->listen() : ok();
  EXPECT_TRUE(hears) << hears.error().what;
  impl_->thread = std::thread{[this] { impl_->io.run(); }};
}

VirtualBmc::VirtualBmc(const std::string& vendor)
    : VirtualBmc{Options{.bmc = {.vendor = vendor}}} {}

VirtualBmc::~VirtualBmc() {
  asio::post(impl_->io, [this] {
    impl_->server.stop();
    if (impl_->ipmi) impl_->ipmi->stop();
    impl_->machine.stop();
    impl_->work.reset();
  });
  impl_->thread.join();
}

inventory::Endpoint VirtualBmc::endpoint() const {
  return {.host = "127.0.0.1", .port = impl_->server.port()};
}

inventory::Endpoint VirtualBmc::ipmi_endpoint() const {
  return {.host = "127.0.0.1", .port = impl_->ipmi ? impl_->ipmi->port() : std::uint16_t{0}};
}

void VirtualBmc::silence_https() {
  on([this](auto&, auto&) {
    impl_->server.stop();
    return true;
  });
}

std::size_t VirtualBmc::ipmi_sessions() {
  return on([this](auto&, auto&) {
    return impl_->ipmi ? impl_->ipmi->service().open_sessions() : std::size_t{0};
  });
}

const std::string& VirtualBmc::password() const { return impl_->options.password; }

std::string VirtualBmc::fingerprint() {
  return on([this](auto&, auto&) { return impl_->server.certificate().fingerprint; });
}

int VirtualBmc::most_at_once() {
  return on([this](auto&, auto&) { return impl_->server.most_at_once(); });
}

void VirtualBmc::misbehave(rehearsal::Rule rule) {
  on([&](auto&, rehearsal::BmcService& service) {
    service.rules().add(std::move(rule));
    return true;
  });
}

void VirtualBmc::post(Act act) {
  asio::post(impl_->io,
             [this, doing = std::move(act)] { doing(impl_->machine, impl_->server.service()); });
}

bool VirtualBmc::wait_until(std::function<bool(rehearsal::Machine&)> holds,
                            std::chrono::seconds patience) {
  auto reported = std::make_shared<std::promise<void>>();
  auto known = reported->get_future();
  post([reported, holds](rehearsal::Machine& machine, auto&) {
    auto look = [reported, holds, &machine, done = false](rehearsal::Machine::Event) mutable {
      if (!done && holds(machine) && !std::exchange(done, true)) reported->set_value();
    };
    const auto shared = std::make_shared<decltype(look)>(std::move(look));
    machine.subscribe([shared](rehearsal::Machine::Event event) { (*shared)(event); });
    (*shared)(rehearsal::Machine::Event::powered);
  });
  return known.wait_for(patience) == std::future_status::ready;
}

bool VirtualBmc::boot() {
  on([](rehearsal::Machine& machine, auto&) { return machine.press(rehearsal::Reset::on); });
  return wait_until([](rehearsal::Machine& machine) { return machine.up(); });
}

}  // namespace cupel::test
