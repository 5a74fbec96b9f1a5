/** What becomes of a member. */
enum Fate {
    STAYS,
    /** Its process is killed: it sends nothing more. */
    KILLED,
    /** It closes its consumer. A dynamic member leaves its group by that, a static one only is away. */
    CLOSED,
    /** A static member that closes its consumer and comes back within its session timeout. */
    RETURNS
}
