#include "rehearsal/bmc/server.h"

#include "rehearsal/bmc_faults.h"

namespace cupel::rehearsal {

BmcServer::BmcServer(asio::any_io_executor executor, ManagedSystem& machine, BmcAccount account,
                     Certificate certificate, asio::ip::tcp::endpoint endpoint, BmcSpec spec)
    : machine_{machine},
      service_{machine, std::move(account), std::move(spec)},
      https_{executor, *this, machine.name() + "-bmc", std::move(certificate), endpoint},
      parting_timer_{executor},
      restart_timer_{executor, machine.clock()} {
  service_.on_restart = [this] { restart(); };
  service_.on_faults = [this] { look_at_faults(); };
}

BmcServer::~BmcServer() { stop(); }

bool BmcServer::hung() const { return bmc_is_hung(machine_.faults()); }

bool BmcServer::disguised() const {
  return find_fault(machine_.faults(), FaultKind::bmc_certificate_changed) != nullptr;
}

ConnectionHabits BmcServer::habits() const {
  const auto& behavior = service_.behavior();
  return {.server = behavior.names.server,
          .resets_every = behavior.connection.resets_every,
          .says_close = behavior.connection.says_close};
}

Result<void> BmcServer::listen() {
  TRY(https_.listen());
  look_at_faults();
  return ok();
}

void BmcServer::join(BmcServer& first) {
  first_ = &first;
  first.systems_.add(service_);
}

/// A dead one has no ports, until somebody replaces it; nor has one without power.
void BmcServer::look_at_faults() {
  const bool dead = bmc_is_dead(machine_.faults()) || !machine_.mains();
  if (stopped_ || !https_.ready() || std::exchange(dead_, dead) == dead) return;
  if (dead)
    close();
  else
    (void)https_.open();
}

void BmcServer::close() {
  service_.state().log.end_streams();
  https_.close();
}

void BmcServer::stop() {
  if (std::exchange(stopped_, true)) return;
  parting_timer_.cancel();
  restart_timer_.cancel();
  service_.stop();
  service_.state().log.end_streams();
  https_.stop();
}

/// Gone in a moment, so that the answer still goes out; back when a BMC has booted.
void BmcServer::restart() {
  if (first_ != nullptr) return first_->restart();
  constexpr std::chrono::milliseconds kParting{100};
  parting_timer_.expires_after(kParting);
  parting_timer_.async_wait([this](boost::system::error_code cancelled) {
    if (cancelled || stopped_) return;
    close();
    if (service_.state().spec.new_certificate) https_.renew_certificate();
    restart_timer_.start(kRestart, [this] {
      if (stopped_) return;
      service_.restarted();
      systems_.restarted();
      if (!dead_) (void)https_.open();
    });
  });
}

}  // namespace cupel::rehearsal
