#include "bmc/ipmi/fru_reader.h"

#include "bmc/ipmi/commands.h"

namespace cupel::bmc::ipmi {
namespace {

constexpr std::size_t kLargest = 4096;  // areas are at most 2040 bytes long each
constexpr std::size_t kPiece = 64, kSmallest = 8;

/// How far the areas that we read go, from what is there; the areas' lengths included once their
/// start is there.
std::size_t end_of_areas(View bytes) {
  std::size_t end = kFruHeader;
  for (const std::size_t at : {2u, 3u, 4u}) {
    const auto start = std::size_t{bytes[at]} * 8;
    if (start == 0) continue;
    const bool begun = start + 2 <= bytes.size();
    end = std::max(end, start + (begun ? std::max<std::size_t>(2, bytes[start + 1] * 8u) : 2u));
  }
  return end;
}

bool wants_smaller_pieces(std::uint8_t completion) {
  return completion == 0xc7 || completion == 0xc8 || completion == 0xca || completion == 0xff;
}

void scrub(const SentSecrets& secrets, Fru& fru) {
  const auto clean = [&secrets](std::initializer_list<std::string*> texts) {
    for (auto* text : texts) *text = secrets.scrubbed(std::move(*text), SentSecrets::In::text);
  };
  if (auto& chassis = fru.chassis) clean({&chassis->part_number, &chassis->serial});
  if (auto& board = fru.board)
    clean({&board->manufacturer, &board->product, &board->serial, &board->part_number});
  if (auto& product = fru.product)
    clean({&product->manufacturer, &product->name, &product->part_number, &product->version,
           &product->serial, &product->asset_tag});
}

}  // namespace

Task<Result<Fru>> read_fru(Client& client, std::uint8_t device, Deadline deadline) {
  Bytes which{device};
  CO_TRY(const Bytes reported, co_await client.ask(kGetFruArea, std::move(which), deadline));
  Reader reader{reported};
  const std::size_t size = std::min<std::size_t>(reader.u16(), kLargest);
  const std::size_t unit = (reader.u8() & 1) != 0 ? 2 : 1;  // by words, or by bytes
  std::size_t piece = kPiece;
  Bytes bytes;
  std::size_t requested = kFruHeader;
  while (bytes.size() < std::min(requested, size)) {
    const auto count = std::max(std::min(piece, size - bytes.size()) / unit, std::size_t{1});
    Bytes data{device};
    put16(data, static_cast<std::uint32_t>(bytes.size() / unit));
    data.push_back(static_cast<std::uint8_t>(count));
    CO_TRY(const Reply reply, co_await client.exchange(kReadFru, std::move(data), deadline));
    if (wants_smaller_pieces(reply.completion) && piece > kSmallest) {
      piece /= 2;
      continue;
    }
    if (reply.completion != 0) co_return error_of(kReadFru, reply.completion).within(client.node());
    if (reply.data.size() < 2) break;
    put(bytes, View{reply.data}.subspan(1));
    if (bytes.size() >= kFruHeader) requested = end_of_areas(bytes);
  }
  auto fru = parse_fru(bytes);
  if (fru) scrub(client.secrets(), *fru);
  co_return within(client.node() + ": FRU " + std::to_string(device), std::move(fru));
}

}  // namespace cupel::bmc::ipmi
