#include "tests/bmc/ipmi/scripted_bmc.h"

#include "tests/bmc/ipmi/ipmi_sim.h"

namespace cupel::bmc::ipmi {

namespace asio = boost::asio;
using asio::ip::udp;

struct ScriptedBmc::State {
  explicit State(const asio::any_io_executor& executor)
      : socket{executor, udp::endpoint{asio::ip::address_v4::loopback(), 0}} {}

  void wait(const std::shared_ptr<State>& self) {
    socket.async_receive_from(asio::buffer(buffer), from,
                              [self](boost::system::error_code failed, std::size_t size) {
                                if (failed || self->owner == nullptr) return;
                                self->owner->hear(View{self->buffer.data(), size});
                                self->wait(self);
                              });
  }

  ScriptedBmc* owner = nullptr;
  udp::socket socket;
  udp::endpoint from;
  std::array<std::uint8_t, 4096> buffer;
  Bytes console{0, 0, 0, 0};  // its session id
  std::uint32_t ours = 0x1000;
  Bytes random = Bytes(16, 0xb0), guid = Bytes(16, 0xc0);
  Bytes console_random{}, who{};
  std::optional<Session> session{};
};

ScriptedBmc::ScriptedBmc(asio::any_io_executor executor, Suite suite, Script script)
    : suite_{suite}, script_{std::move(script)}, state_{std::make_shared<State>(executor)} {
  state_->owner = this;
  state_->wait(state_);
}

ScriptedBmc::~ScriptedBmc() {
  state_->owner = nullptr;
  state_->socket.close();
}

inventory::Endpoint ScriptedBmc::endpoint() const {
  return {"127.0.0.1", state_->socket.local_endpoint().port()};
}

void ScriptedBmc::answer(PayloadType type, View payload) {
  state_->socket.send_to(asio::buffer(without_session(type, payload)), state_->from);
}

void ScriptedBmc::hear(View datagram) {
  const auto packet = parse_packet(datagram);
  if (!packet) return;
  const auto& reported = *packet;
  const auto payload = reported.payload;
  State& state = *state_;
  if (reported.type == PayloadType::open_session_request) {
    ++handshakes;
    if (short_refusals > 0) {
      --short_refusals;
      return answer(PayloadType::open_session_response, Bytes{payload[0], 0x0d});
    }
    ++state.ours;
    state.console.assign(payload.begin() + 4, payload.begin() + 8);
    const bool known = payload[12] == suite_.authentication;
    Bytes reply{payload[0], static_cast<std::uint8_t>(known ? 0 : 0x11), 4, 0};
    put(reply, state.console);
    put32(reply, state.ours);
    put(reply, payload.subspan(8, 24));
    answer(PayloadType::open_session_response, reply);
  } else if (reported.type == PayloadType::rakp1) {
    on_rakp1(payload);
  } else if (reported.type == PayloadType::rakp3) {
    Mac by_password{suite_.hash, bytes_of(IpmiSim::kPassword)};
    const auto key = by_password.of({state.console_random, state.random, state.who});
    Bytes id;
    put32(id, state.ours);
    Bytes reply{payload[0], 0, 0, 0};
    put(reply, state.console);
    const auto check = Mac{suite_.hash, key}.of({state.console_random, id, state.guid});
    put(reply, View{check}.first(suite_.code_size));
    Reader console{state.console};
    state.session.emplace(suite_, state.ours, console.u32(), key);
    answer(PayloadType::rakp4, reply);
  } else {
    on_message(datagram);
  }
}

void ScriptedBmc::on_rakp1(View payload) {
  State& state = *state_;
  const auto role = payload[24];
  const int status = (role & 15) > highest_role ? 0x0a : rakp2_status;
  Bytes reply{payload[0], static_cast<std::uint8_t>(status), 0, 0};
  put(reply, state.console);
  state.console_random.assign(payload.begin() + 8, payload.begin() + 24);
  state.who = {role, payload[27]};
  put(state.who, payload.subspan(28));
  Bytes id;
  put32(id, state.ours);
  Mac by_password{suite_.hash, bytes_of(IpmiSim::kPassword)};
  put(reply, state.random);
  put(reply, state.guid);
  put(reply, by_password.of(
                 {state.console, id, state.console_random, state.random, state.guid, state.who}));
  answer(PayloadType::rakp2, reply);
}

void ScriptedBmc::on_message(View datagram) {
  if (!state_->session) return;
  const auto opened = state_->session->open(datagram);
  if (!opened) return;
  const auto& message = opened->payload;
  const std::uint8_t function = message[1] >> 2, code = message[5];
  asked.push_back(hex(function, 2).substr(2) + " " + hex(code, 2).substr(2));
  const auto reply = script_(function, code, View{message}.subspan(6, message.size() - 7));
  Bytes back{0x81, static_cast<std::uint8_t>((function | 1) << 2)};
  back.push_back(checksum(back));
  Bytes rest{0x20, message[4], code, reply.completion};
  put(rest, reply.data);
  rest.push_back(checksum(rest));
  put(back, rest);
  const auto sealed = state_->session->seal(PayloadType::ipmi, back);
  state_->socket.send_to(asio::buffer(sealed), state_->from);
}

}  // namespace cupel::bmc::ipmi
