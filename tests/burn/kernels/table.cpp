#include "tests/burn/kernels/table.h"

#include <algorithm>
#include <array>
#include <tuple>

#include "burnin/agent/burn/cuda/gemm_entries.h"
#include "burnin/agent/burn/cuda/hbm_entries.h"
#include "burnin/agent/burn/cuda/link_entries.h"
#include "burnin/agent/burn/cuda/train_entries.h"

namespace cupel::burn::on_host {
namespace {

template <class... Taken>
Kernel entry(std::string_view name, void (*kernel)(Taken...), bool strides) {
  return {.name = name, .strides = strides, .with = [kernel](void** values) {
            const auto copied = [values]<std::size_t... kAt>(std::index_sequence<kAt...>) {
              return std::tuple<Taken...>{*static_cast<Taken*>(values[kAt])...};
            }(std::index_sequence_for<Taken...>{});
            return std::function<void()>{[kernel, copied] { std::apply(kernel, copied); }};
          }};
}

const auto& all() {
#define STRIDES(name) entry(#name, name, true)
#define HAS_BLOCKS(name) entry(#name, name, false)
  static const std::array kAll{
      STRIDES(gemm_fill),        HAS_BLOCKS(gemm_sum),        HAS_BLOCKS(gemm_check),
      HAS_BLOCKS(gemm_sample),   HAS_BLOCKS(gemm_plant),      HAS_BLOCKS(gemm_flip),
      STRIDES(hbm_write),        STRIDES(hbm_check),          STRIDES(hbm_invert),
      STRIDES(hbm_hammer),       STRIDES(hbm_read),           STRIDES(hbm_set),
      STRIDES(hbm_copy),         HAS_BLOCKS(hbm_flip),        STRIDES(link_fill_words),
      STRIDES(link_check_words), STRIDES(link_fill_numbers),  STRIDES(link_check_numbers),
      HAS_BLOCKS(link_flip),     STRIDES(link_copy),          HAS_BLOCKS(link_answer),
      HAS_BLOCKS(link_hold),     STRIDES(train_normal),       STRIDES(train_weights),
      HAS_BLOCKS(train_norm),    HAS_BLOCKS(train_norm_back), STRIDES(train_gelu),
      STRIDES(train_gelu_back),  HAS_BLOCKS(train_softmax),   HAS_BLOCKS(train_softmax_back),
      HAS_BLOCKS(train_loss),    HAS_BLOCKS(train_mean),      STRIDES(train_adamw),
      STRIDES(train_checksum),   STRIDES(train_pieces)};
#undef STRIDES
#undef HAS_BLOCKS
  return kAll;
}

}  // namespace

const Kernel* kernel(std::string_view name) {
  const auto* const found = std::ranges::find(all(), name, &Kernel::name);
  return found == all().end() ? nullptr : found;
}

}  // namespace cupel::burn::on_host
