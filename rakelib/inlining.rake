# frozen_string_literal: true

# The loops must be inlined for each SIMD level, since a call costs more than the work. So the
# compiled extension must not have symbols for these ...
INLINED = [
  /ws_unmask_core::decoder::Decoder::whole_message/,
  /ws_unmask_core::frame::Frame::(?!check_close)/,
  /ws_unmask_core::key::/,
  /ws_unmask_core::unmask::(?:in_out|target|word)::/,
  /\A(?!.*::__fearless_simd_kernel\z).*ws_unmask_core::unmask::simd::(?!without_vectors)/,
  /fearless_simd::(?!detect_\w+_level\z)/
].freeze

# ... but must have these, at least once per level (the compiler may make copies).
IN_SIMD = %w[bytes_in_place ascii_in_place ascii_into long_text_in_place].freeze
TEXT_BYTE = "<core::mem::maybe_uninit::MaybeUninit<u8> as ws_unmask_core::unmask::simd::TextByte>"
KERNELS = [*IN_SIMD.map { |name| "ws_unmask_core::unmask::simd::#{name}" },
           "#{TEXT_BYTE}::text_into::short", "#{TEXT_BYTE}::text_into::long"].freeze
LEVELS = { /\Ax86_64/ => %w[sse4_2 avx2 avx512] }.freeze

# The names of all functions in a binary, with duplicates.
def functions_in(binary)
  IO.popen(["nm", "--demangle", binary], &:readlines).filter_map { |line| line[/ [tT] (.+)/, 1] }
end

desc "Check that the core's hot functions are inlined into their callers"
task inlining: :compile do
  functions = functions_in("lib/ws_unmask/ws_unmask.#{RbConfig::CONFIG["DLEXT"]}")
  wrong = functions.grep(Regexp.union(INLINED)).map { |name| "not inlined: #{name}" }
  levels = LEVELS.find { |platform, _| platform.match?(RUBY_PLATFORM) }&.last || []
  kernels = KERNELS.product(levels).map { |names| [*names, "__fearless_simd_kernel"].join("::") }
  wrong += (kernels - functions).map { |name| "not there: #{name}" }
  abort wrong.join("\n") unless wrong.empty?
  puts "all inlined, except #{KERNELS.size} functions compiled once for #{levels.join(", ")}"
end
