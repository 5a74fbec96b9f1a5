/** Sleep in places that may throw nothing checked. */
final class Pause {
    private Pause() {
    }

    static void of(long ms) {
        try {
            Thread.sleep(ms);
        } catch (InterruptedException ended) {
            Thread.currentThread().interrupt();
        }
    }
}
