#include "rehearsal/ipmi/service.h"

namespace cupel::rehearsal::ipmi {
namespace {

/// Table 13-8: what is answered without a session, and as what.
std::optional<Payload> answer_of(Payload type) {
  switch (type) {
    case Payload::open_session:
      return Payload::open_session_answer;
    case Payload::rakp_1:
      return Payload::rakp_2;
    case Payload::rakp_3:
      return Payload::rakp_4;
    default:
      return std::nullopt;
  }
}

}  // namespace

Service::Service(asio::any_io_executor executor, ManagedSystem& machine, const std::string& user,
                 const std::string& password, Now now)
    : machine_{machine},
      now_{std::move(now)},
      users_{user, password},
      sessions_{users_, guid_of(machine.hardware().uuid)},
      device_{std::make_unique<Device>(executor, machine, users_, sessions_, now_)} {
  device_->sol.send = [this](std::uint32_t session, const Bytes& payload) {
    send_console(session, payload);
  };
  // Listeners stay for the machine's life, which is longer than ours.
  machine.subscribe(
      [this, listening = std::weak_ptr<bool>{listening_}](ManagedSystem::Event event) {
        const auto held = listening.lock();
        if (held && *held) device_->hear(event);
      });
}

void Service::handle(View datagram, const Peer& from) {
  ++datagrams_;
  if (const auto pong = pong_for(datagram)) {
    send(from, *pong);
    return;
  }
  const auto packet = parse_packet(datagram);
  if (!packet) return;
  const auto faults = machine_.faults();
  sessions_.suite_3_only = find_fault(faults, FaultKind::ipmi_suite_3_only) != nullptr;
  sessions_.wrong_password = find_fault(faults, FaultKind::bmc_wrong_password) != nullptr;
  sessions_.full = find_fault(faults, FaultKind::bmc_sessions_full) != nullptr;
  sessions_.locked = find_fault(faults, FaultKind::bmc_locked) != nullptr;
  sessions_.expire(now_());
  if (packet->session == 0)
    outside(*packet, from);
  else
    inside(*packet, from);
  finish();
}

void Service::outside(const Packet& packet, const Peer& from) {
  if (packet.type == Payload::message) {
    const auto message = parse_message(packet.payload);
    if (!message || message->net_function % 2 != 0) return;
    const auto body = answer(*message, nullptr);
    send(from, plain_packet({.rmcp_plus = packet.rmcp_plus}, body));
    return;
  }
  const auto type = answer_of(packet.type);
  if (!packet.rmcp_plus || !type) return;
  const auto now = now_();
  const auto body = packet.type == Payload::open_session ? sessions_.open(packet.payload, from, now)
                    : packet.type == Payload::rakp_1     ? sessions_.rakp_1(packet.payload, now)
                                                         : sessions_.rakp_3(packet.payload, now);
  if (body) send(from, plain_packet({.type = *type}, *body));
}

void Service::inside(const Packet& packet, const Peer& from) {
  auto* session = packet.rmcp_plus ? sessions_.find(packet.session) : nullptr;
  if (session == nullptr) return;
  const auto payload = sessions_.unprotect(*session, packet, now_());
  if (!payload) return;
  session->peer = from;
  if (packet.type == Payload::sol) {
    if (device_->sol.session() == session->id) device_->sol.take(*payload);
    return;
  }
  if (packet.type != Payload::message) return;
  const auto message = parse_message(*payload);
  if (!message || message->net_function % 2 != 0) return;
  const auto body = answer(*message, session);
  send(from, sessions_.protect(*session, Payload::message, body));
}

Bytes Service::answer(const Message& message, Session* session) {
  const auto reply = device_->answer(message.net_function, message.command,
                                     {.data = message.data, .session = session});
  return answer_to(message, static_cast<std::uint8_t>(reply.code), reply.data);
}

void Service::send_console(std::uint32_t id, const Bytes& payload) {
  auto* session = sessions_.find(id);
  if (session == nullptr) return;
  session->used = now_();
  send(session->peer, sessions_.protect(*session, Payload::sol, payload));
}

/// What an answer has announced.
void Service::finish() {
  if (const auto id = std::exchange(device_->close_requested, 0u); id != 0) sessions_.close(id);
  auto& sol = device_->sol;
  if (sol.active() && sessions_.find(sol.session()) == nullptr) sol.forget(sol.session());
  if (std::exchange(device_->restart_requested, false)) {
    forget_sessions();
    on_restart();
  }
}

void Service::forget_sessions() {
  device_->sol.forget(device_->sol.session());
  sessions_.close_all();
  device_->sel.cancel_reservation();
  device_->sdr_reservation = 0;
}

void Service::stop() {
  *listening_ = false;
  device_->sol.stop();
}

}  // namespace cupel::rehearsal::ipmi
