#include "bmc/ipmi/repository.h"

#include <set>

#include "bmc/ipmi/commands.h"

namespace cupel::bmc::ipmi {
namespace {

constexpr std::uint16_t kLast = 0xffff;
constexpr std::uint8_t kWhole = 0xff;  // as many bytes as there are
constexpr std::uint8_t kPiece = 16;    // that every BMC can return
constexpr std::uint8_t kSmallest = 4;
constexpr int kMostReservations = 8;
constexpr std::uint8_t kReservationLost = 0xc5;

/// Which of the two stores, and where in it we are.
struct Walk {
  const Command& reserve;
  const Command& read;
  std::uint16_t reservation = 0;
  int reservations = 0;
  std::uint8_t piece = kWhole;
};

struct Piece {
  std::uint16_t next = kLast;
  Bytes bytes{};
  bool reservation_lost = false;
};

Task<Result<void>> reserve(Client& client, Walk& walk, Deadline deadline) {
  if (++walk.reservations > kMostReservations)
    co_return Error{Code::kBusy, client.node() + ": " + walk.reserve.name +
                                     ": another client keeps taking the reservation"};
  CO_TRY(const Bytes reported, co_await client.ask(walk.reserve, {}, deadline));
  Reader reader{reported};
  walk.reservation = reader.u16();
  co_return ok();
}

bool wants_smaller_pieces(std::uint8_t completion) {
  // Too long for it; the last two are what some BMCs say instead.
  return completion == 0xca || completion == 0xc8 || completion == 0xc7 || completion == 0xcc ||
         completion == 0xff;
}

Task<Result<Piece>> read_piece(Client& client, Walk& walk, std::uint16_t id, std::size_t from,
                               std::size_t count, Deadline deadline) {
  for (;;) {
    Bytes data;
    put16(data, walk.reservation);
    put16(data, id);
    data.push_back(static_cast<std::uint8_t>(from));
    data.push_back(static_cast<std::uint8_t>(std::min<std::size_t>(count, walk.piece)));
    CO_TRY(const Reply reply, co_await client.exchange(walk.read, std::move(data), deadline));
    if (reply.completion == kReservationLost) co_return Piece{.reservation_lost = true};
    if (reply.completion == 0) {
      Reader reader{reply.data};
      Piece piece{.next = reader.u16()};
      piece.bytes.assign(reader.rest().begin(), reader.rest().end());
      co_return piece;
    }
    if (!wants_smaller_pieces(reply.completion) || walk.piece == kSmallest)
      co_return error_of(walk.read, reply.completion).within(client.node());
    walk.piece = walk.piece > kPiece ? kPiece : std::max<std::uint8_t>(kSmallest, walk.piece / 2);
  }
}

/// One whole record, and which comes next. Where the reservation goes, begins again.
Task<Result<Piece>> read_record(Client& client, Walk& walk, std::uint16_t id, Deadline deadline) {
  Piece record;
  std::size_t requested = kWhole;
  while (record.bytes.size() < requested) {
    const auto from = record.bytes.size();
    // The header says how long it is; until then, all or as much as comes.
    const auto count = requested == kWhole ? std::size_t{walk.piece} : requested - from;
    CO_TRY(const Piece piece, co_await read_piece(client, walk, id, from, count, deadline));
    if (piece.reservation_lost) {
      CO_TRY(co_await reserve(client, walk, deadline));
      record = {};
      requested = kWhole;
      continue;
    }
    if (piece.bytes.empty()) break;
    if (from == 0) record.next = piece.next;
    put(record.bytes, piece.bytes);
    if (record.bytes.size() >= kSdrHeader) requested = kSdrHeader + record.bytes[4];
  }
  co_return record;
}

void keep(Repository& repository, std::uint16_t id, View bytes, const SentSecrets& secrets) {
  auto record = parse_sdr(bytes);
  const auto source = "ipmi:sdr/" + hex(id, 4);
  if (!record) {
    repository.unknown.push_back({"sensor data record", source, record.error().what});
    return;
  }
  const auto clean = [&secrets](std::string& name) {
    name = secrets.scrubbed(std::move(name), SentSecrets::In::text);
  };
  if (auto* sensor = std::get_if<SensorRecord>(&*record)) {
    clean(sensor->name);
    repository.sensors.push_back(std::move(*sensor));
  }
  if (auto* fru = std::get_if<FruLocator>(&*record)) {
    clean(fru->name);
    repository.frus.push_back(std::move(*fru));
  }
}

Task<Result<Repository>> walk_all(Client& client, Walk walk, Deadline deadline) {
  CO_TRY(co_await reserve(client, walk, deadline));
  Repository repository;
  std::set<std::uint16_t> seen;
  for (std::uint16_t id = 0; id != kLast;) {
    if (!seen.insert(id).second || seen.size() > kMostRecords)
      co_return Error{Code::kMalformed,
                      client.node() + ": " + walk.read.name + ": its records go in a circle"};
    auto record = co_await read_record(client, walk, id, deadline);
    // An empty repository has no first record.
    if (!record && record.error().code == Code::kNotFound && id == 0) break;
    CO_TRY(const Piece piece, std::move(record));
    Reader reader{piece.bytes};
    const auto reported = reader.u16();
    keep(repository, reader.ok() ? reported : id, piece.bytes, client.secrets());
    id = piece.next;
  }
  co_return repository;
}

}  // namespace

Task<Result<Repository>> read_repository(Client& client, Deadline deadline) {
  Walk main{kReserveRepository, kGetSdr};
  auto repository = co_await walk_all(client, main, deadline);
  if (repository || repository.error().code != Code::kUnsupported) co_return repository;
  Walk device{kReserveDeviceSdr, kGetDeviceSdr};
  co_return co_await walk_all(client, device, deadline);
}

}  // namespace cupel::bmc::ipmi
